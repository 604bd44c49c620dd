/** Collects what must be stopped, and stops it in the reverse order of its start. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add(...steps: (() => unknown)[]): void {
    this.#steps.push(...steps);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step();
  }
}
