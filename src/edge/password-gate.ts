import { clientAddress, type TrustedProxies } from '../lib/client-address.ts';
import { subscriberNetwork } from '../lib/ip-address.ts';
import { lru } from '../lib/lru.ts';
import { isPassword } from '../lib/passwords.ts';
import { QueueFull } from '../lib/semaphore.ts';
import { systemTimers, type Timers } from '../lib/timers.ts';

/** A password has at most 128 characters, each of which takes up to 12 in a form. */
const maxFormBytes = 4_096;
const maxTries = 5;
const windowMs = 60_000;
/** Visitors whose tries are counted. */
const maxCounted = 20_000;

interface Tries {
  until: number;
  count: number;
}

/** Whether a link opens, or what its form says. */
export type Opening = 'open' | 'asked' | 'wrong' | 'too_many' | 'busy';

/** Asks for the passwords of links: compares what a form sent, five times a minute for each visitor and code. */
export class PasswordGate {
  readonly #trusted: TrustedProxies;
  readonly #timers: Timers;
  readonly #tries = lru<string, Tries>(maxCounted);

  constructor(trusted: TrustedProxies, timers: Timers = systemTimers) {
    this.#trusted = trusted;
    this.#timers = timers;
  }

  async open(request: Request, peer: string, { code, hash }: { code: string; hash: string }): Promise<Opening> {
    if (request.method !== 'POST') return 'asked';
    const password = await readPassword(request);
    if (password === undefined || password === '') return 'asked';
    if (!this.#mayTry(code, peer, request.headers)) return 'too_many';
    try {
      return (await isPassword(password, hash)) ? 'open' : 'wrong';
    } catch (error) {
      // Anything else is a hash that was lost or cannot be read: no password opens the link.
      return error instanceof QueueFull ? 'busy' : 'wrong';
    }
  }

  #mayTry(code: string, peer: string, headers: Headers): boolean {
    const address = clientAddress(peer, headers.get('x-forwarded-for'), this.#trusted);
    const key = `${code} ${Buffer.from(subscriberNetwork(address)).toString('base64')}`;
    const now = this.#timers.now();
    const known = this.#tries.get(key);
    const tries = known === undefined || known.until <= now ? { until: now + windowMs, count: 0 } : known;
    tries.count++;
    this.#tries.set(key, tries);
    return tries.count <= maxTries;
  }
}

/** The field `password` of a form; undefined if there is none, or the form is too large. */
async function readPassword(request: Request): Promise<string | undefined> {
  const length = Number(request.headers.get('content-length') ?? Number.NaN);
  if (!(length <= maxFormBytes)) return undefined;
  const text = await request.text();
  return new URLSearchParams(text).get('password') ?? undefined;
}
