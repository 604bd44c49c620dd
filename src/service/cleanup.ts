/** Collects stop functions, and runs them in reverse order. */
export class Cleanup {
  readonly #steps: (() => unknown)[] = [];

  add(...steps: (() => unknown)[]): void {
    this.#steps.push(...steps);
  }

  async run(): Promise<void> {
    for (const step of this.#steps.splice(0).reverse()) await step();
  }
}
