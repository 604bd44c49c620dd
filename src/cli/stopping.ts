/** Resolves at the first SIGINT or SIGTERM. A second one means that somebody cannot wait. */
export function untilAskedToStop(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let asked = false;
    const listen = (signal: NodeJS.Signals) => {
      if (asked) process.exit(130);
      asked = true;
      resolve(signal);
    };
    process.on('SIGINT', listen);
    process.on('SIGTERM', listen);
  });
}
