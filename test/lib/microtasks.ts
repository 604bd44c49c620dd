/** Lets promises that are resolved already run what waits for them, through up to 20 steps. */
export async function microtasks(): Promise<void> {
  for (let step = 0; step < 20; step++) await undefined;
}
