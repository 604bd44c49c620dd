import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** A file of /proc; empty if its process or thread has ended. */
function read(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

const megabytesOf = (pid: number | 'self', field: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(read(`${pid}/status`))?.[1] ?? 0) / 1024;

const renderScript = fileURLToPath(new URL('../../src/render/main.ts', import.meta.url));

/** Render processes that this process has started and that still run. */
function renderers(): number[] {
  return readdirSync('/proc/self/task')
    .flatMap((task) => read(`self/task/${task}/children`).trim().split(' '))
    .filter(Boolean)
    .map(Number)
    .filter((pid) => read(`${pid}/cmdline`).includes(renderScript));
}

/** Its peak becomes what it has now. */
function resetPeak(pid: number | 'self'): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5');
  } catch (error) {
    // A renderer ends after a minute without a job.
    if (pid === 'self') throw error;
  }
}

/**
 * Does the work and returns how many MB this process, which runs the service, and each of its renderers have taken at their
 * peak above what they had before. The kernel keeps the peaks, so that no moment is missed.
 */
export async function peakAbove(work: () => Promise<void>): Promise<{ service: number; renderer: number }> {
  const idle = new Map(renderers().map((pid) => [pid, megabytesOf(pid, 'VmRSS')]));
  for (const pid of idle.keys()) resetPeak(pid);
  resetPeak('self');
  const before = megabytesOf('self', 'VmRSS');
  await work();
  const typical = Math.max(0, ...idle.values());
  const above = renderers().map((pid) => megabytesOf(pid, 'VmHWM') - (idle.get(pid) ?? typical));
  return { service: megabytesOf('self', 'VmHWM') - before, renderer: Math.max(0, ...above) };
}
