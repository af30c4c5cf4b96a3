/** Something that happens once and can be waited for. */
export class Moment {
  readonly passed: Promise<void>;
  readonly pass: () => void;

  constructor() {
    let resolvePassed: () => void = () => undefined;
    this.passed = new Promise((resolve) => {
      resolvePassed = resolve;
    });
    this.pass = resolvePassed;
  }
}
