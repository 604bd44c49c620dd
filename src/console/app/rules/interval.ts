/** The quantile of the normal distribution for 95 %. */
const z = 1.959964;

/** The 95 % interval of a share by Wilson's score, which stays within 0 and 1 for few scans as well. */
export function shareInterval(count: number, total: number): { low: number; high: number } {
  if (total === 0) return { low: 0, high: 1 };
  const share = count / total;
  const center = share + z ** 2 / (2 * total);
  const spread = z * Math.sqrt((share * (1 - share)) / total + z ** 2 / (4 * total ** 2));
  const scale = 1 + z ** 2 / total;
  return { low: Math.max(0, (center - spread) / scale), high: Math.min(1, (center + spread) / scale) };
}
