interface ChoiceGiven {
  readonly label: string;
  readonly value: string | undefined;
  readonly all: readonly (readonly [string, string])[];
  choose(value: string): void;
}

/** One of several values. */
export function Choice({ label, value = '', all, choose }: ChoiceGiven) {
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => choose(event.currentTarget.value)}>
        {all.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
