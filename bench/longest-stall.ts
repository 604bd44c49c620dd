/** The longest time in ms for which the event loop did nothing else while `work` ran. */
export async function longestStallMs(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  let running = true;
  const check = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
    if (running) setImmediate(check);
  };
  setImmediate(check);
  await work();
  running = false;
  return Math.max(longest, performance.now() - last);
}
