import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { QueueFull } from '../../src/lib/semaphore.ts';
import { timeouts } from '../../src/lib/timeouts.ts';
import { readLogo } from '../../src/logos/read-logo.ts';
import { examine } from '../../src/proof/examine.ts';
import { drawQrImage, type QrImage } from '../../src/qr/image.ts';
import { stockLayouts } from '../../src/qr/sheet/layouts.ts';
import { drawSheetPage, type SheetPage } from '../../src/qr/sheet/sheet-page.ts';
import { RenderProcess } from '../../src/render/render-process.ts';
import { JobDropped, JobTimeout, ProcessLost, Renderer } from '../../src/render/renderer.ts';
import { png } from '../logos/images.ts';
import { eventually } from '../support/eventually.ts';
import { type ManualTimers, manualTimers } from '../support/timers.ts';

const script = fileURLToPath(new URL('./scripted.ts', import.meta.url));
const imageOf = (url: string): QrImage => ({ url, style: {}, format: 'png', size: 128 });
const isRunning = (pid: number) => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

const open: Renderer[] = [];
afterEach(() => {
  for (const renderer of open.splice(0)) renderer.close();
});

/** A renderer whose processes obey the URLs of images. */
function scripted(timers?: ManualTimers) {
  const processes: RenderProcess[] = [];
  const renderer = new Renderer({
    ...(timers === undefined ? {} : { timers }),
    start(pace) {
      const started = new RenderProcess(pace, { script, ...(timers === undefined ? {} : { timers }) });
      processes.push(started);
      return started;
    },
  });
  open.push(renderer);
  const order = async (account: string, url: string, signal?: AbortSignal): Promise<string> =>
    String(await renderer.run('image', () => imageOf(url), { account, signal }));
  return { renderer, processes, order };
}

describe('the renderer', () => {
  test('does every kind of job as it is done without it, and returns the reason of a bad one', async () => {
    const renderer = new Renderer();
    open.push(renderer);
    const mine = { account: 'acct_a' };
    const image = imageOf('https://example.com/menu');
    const page: SheetPage = {
      layout: stockLayouts['a4-3x8'],
      labels: [{ url: image.url, style: {} }],
      firstCell: 0,
      color: 'rgb',
    };
    const logo = png();
    expect(await renderer.run('image', () => image, mine)).toEqual(await drawQrImage(image));
    expect(await renderer.run('page', () => page, mine)).toEqual(drawSheetPage(page));
    expect(await renderer.run('logo', () => logo, mine)).toEqual(await readLogo(logo));
    const request = { url: image.url, style: {} };
    expect(await renderer.run('proof', () => request, mine)).toEqual(await examine(request));
    await expect(renderer.run('image', () => ({ ...image, size: 1 }), mine)).rejects.toThrow(RangeError);
    await expect(renderer.run('logo', () => new Uint8Array(3), mine)).rejects.toThrow('is not a PNG');
  });

  test('knows no settings, thus no secrets', async () => {
    const { order } = scripted();
    expect(await order('acct_a', 'environment')).not.toMatch(/SECRET|URL|KEY|PASSWORD/);
  });

  test('draws in a session of its own, whose CPU Linux does not count as CPU of the service', async () => {
    const { order, processes } = scripted();
    await order('acct_a', 'draw');
    const { pid } = processes[0] as RenderProcess;
    const [, , , session] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    expect(session).toBe(String(pid));
  });

  test.each(['exit', 'take all memory'])('replaces a process after the job "%s"', async (job) => {
    const { order, processes } = scripted();
    await expect(order('acct_a', job)).rejects.toThrow(ProcessLost);
    expect(await order('acct_a', 'draw')).toContain('draw');
    await expect(order('acct_a', 'wrong')).rejects.toThrow(new RangeError('is wrong'));
    expect(processes.length).toBeLessThanOrEqual(2);
  });

  test('kills a process whose job exceeds its deadline; jobs of other accounts go on meanwhile', async () => {
    const timers = manualTimers();
    const { order, processes } = scripted(timers);
    const hanging = order('acct_a', 'hang');
    const next = order('acct_a', 'draw');
    expect(await order('acct_b', 'draw')).toContain('draw');
    expect(await order('acct_c', 'draw')).toContain('draw');
    timers.advance(timeouts.imageMs);
    await expect(hanging).rejects.toThrow(JobTimeout);
    await eventually(() => expect(isRunning((processes[0] as RenderProcess).pid)).toBe(false));
    expect(await next).toContain('draw');
  });

  test('draws for an account in the process that it had last', async () => {
    const { order } = scripted();
    const [a, b] = await Promise.all([order('acct_a', 'draw'), order('acct_b', 'draw')]);
    expect(a).not.toBe(b);
    expect(await order('acct_b', 'draw')).toBe(b);
    expect(await order('acct_b', 'draw')).toBe(b);
    expect(await order('acct_a', 'draw')).toBe(a);
    expect(await order('acct_c', 'draw')).toBeOneOf([a, b]);
  });

  test('drops jobs that nothing waits for any more', async () => {
    const timers = manualTimers();
    const { order } = scripted(timers);
    const hanging = order('acct_a', 'hang');
    const closed = new AbortController();
    const dropped = order('acct_a', 'draw', closed.signal);
    closed.abort();
    await expect(dropped).rejects.toThrow(JobDropped);
    await expect(order('acct_b', 'draw', closed.signal)).rejects.toThrow(JobDropped);
    const late = order('acct_a', 'draw');
    timers.advance(Math.max(timeouts.apiMs, timeouts.imageMs) + 1);
    await expect(hanging).rejects.toThrow(JobTimeout);
    await expect(late).rejects.toThrow(QueueFull);
  });

  test('bounds the jobs that wait for one account, and not the jobs of another', async () => {
    const timers = manualTimers();
    const { order } = scripted(timers);
    const settled = Promise.allSettled(
      ['hang', ...Array.from({ length: 128 }, () => 'draw')].map((job) => order('acct_a', job)),
    );
    await expect(order('acct_a', 'draw')).rejects.toThrow(QueueFull);
    expect(await order('acct_b', 'draw')).toContain('draw');
    timers.advance(timeouts.imageMs);
    expect((await settled).filter(({ status }) => status === 'fulfilled')).toHaveLength(128);
  });

  test('runs one job of an account at a time, public ones included, and lets both kinds take turns', async () => {
    const timers = manualTimers();
    const { renderer, order } = scripted(timers);
    const done: string[] = [];
    const open = (url: string, isPublic: boolean) =>
      renderer.run('image', () => imageOf(url), { account: 'acct_a', isPublic }).finally(() => done.push(url));
    const jobs = [open('hang', true), open('public 1', true), open('public 2', true), open('own', false)];
    const settled = Promise.allSettled(jobs);
    expect(await order('acct_b', 'draw'), 'a process is left for others').toContain('draw');
    expect(done).toEqual([]);
    timers.advance(timeouts.imageMs);
    await settled;
    expect(done).toEqual(['hang', 'public 1', 'own', 'public 2']);
  });

  test('takes jobs of the account with most of them back when too many wait', async () => {
    const timers = manualTimers();
    const { order } = scripted(timers);
    const many = (account: string, count: number) =>
      Array.from({ length: count }, (_, i) => order(account, i === 0 && count > 1 ? 'hang' : 'draw'));
    const [a, b] = [Promise.allSettled(many('acct_a', 129)), Promise.allSettled(many('acct_b', 129))];
    const others = Array.from({ length: 256 }, (_, i) => order(`acct_${i}`, 'draw'));
    const newest = order('acct_new', 'draw');
    await expect(order('acct_b', 'draw')).rejects.toThrow(QueueFull);
    timers.advance(timeouts.imageMs);
    expect(await newest).toContain('draw');
    expect((await Promise.all(others)).every((result) => result.includes('draw'))).toBe(true);
    const outcomes = [...(await a), ...(await b)];
    const reasons = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    expect(reasons.filter((reason) => reason instanceof QueueFull)).toHaveLength(1);
    expect(reasons.filter((reason) => reason instanceof JobTimeout)).toHaveLength(2);
  });

  test('draws for accounts whose jobs take much CPU in one process, after which others do not wait', async () => {
    const timers = manualTimers();
    const { order, processes } = scripted(timers);
    const [expensive, other] = ['acct_a', 'acct_b'];
    for (const account of [expensive, other]) await order(account, 'take 1,000 ms');
    const pacesOf = () => processes.filter(({ hasEnded }) => !hasEnded).map(({ pace }) => pace);
    expect(pacesOf()).toEqual(['quick']);
    const hanging = order(expensive, 'hang');
    const waiting = order(other, 'draw');
    const isWaiting = () => Promise.race([waiting, Promise.resolve('waits')]);
    expect(await order('acct_c', 'draw')).toContain('draw');
    expect(await order('acct_d', 'draw')).toContain('draw');
    expect(await isWaiting()).toBe('waits');
    expect(pacesOf()).toEqual(['quick', 'slow']);
    timers.advance(timeouts.imageMs);
    await expect(hanging).rejects.toThrow(JobTimeout);
    expect(await waiting).toContain('draw');
    timers.advance(10 * 60_000);
    await order(expensive, 'draw');
    expect(pacesOf()).toEqual(['quick']);
  });

  test('ends an idle process after a minute, and starts another one for the next job', async () => {
    const timers = manualTimers();
    const { order, processes } = scripted(timers);
    await order('acct_a', 'draw');
    await order('acct_b', 'draw');
    expect(processes, 'one after another needs one').toHaveLength(1);
    timers.advance(60_000);
    await eventually(() => expect(isRunning((processes[0] as RenderProcess).pid)).toBe(false));
    expect(await order('acct_a', 'draw')).toContain('draw');
    expect(processes).toHaveLength(2);
  });
});
