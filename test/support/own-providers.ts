/** The providers of batchers that tests define, as a program of a user's declares its own. */
declare module 'batchling' {
  interface OwnProviders {
    busy: object;
    cloud: { region?: 'eu' | 'us' };
    early: object;
    echoing: object;
    gated: object;
    keyed: object;
    llama: object;
    losing: object;
    many: object;
    mine: object;
    narrow: object;
  }
}

export {};
