import { startLoad } from './bench-stack.ts';
import { detailedClip, layers, repeatedPath, twoImages } from './hostile-images.ts';
import type { Attacker } from './neighbours-world.ts';

interface Attack {
  name: string;
  /** Goes on until the signal aborts; `answered` counts what the service answered. */
  run(attacker: Attacker, signal: AbortSignal, answered: (status: number | string) => void): Promise<void>;
}

type Answered = Parameters<Attack['run']>[2];

/** A client that is gone before the response. */
const abandonAfterMs = 300;
const refusedPauseMs = 100;

/** `workers` clients, each of which sends a request after the other; a request that fails is part of the attack. */
async function storm(
  workers: number,
  signal: AbortSignal,
  answered: Answered,
  request: (worker: number, turn: number) => Promise<Response | undefined>,
): Promise<void> {
  const work = async (worker: number) => {
    for (let turn = 0; !signal.aborted; turn++) {
      const response = await request(worker, turn).catch(() => undefined);
      answered(response?.status ?? 'abandoned');
      if (response !== undefined && !response.ok) await Bun.sleep(refusedPauseMs);
      await response?.arrayBuffer().catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: workers }, (_, worker) => work(worker)));
}

const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
const json = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const abandoned = (signal: AbortSignal) => AbortSignal.any([signal, AbortSignal.timeout(abandonAfterMs)]);
const anyAddress = () => ({
  'x-forwarded-for': Array.from({ length: 4 }, () => 1 + Math.floor(Math.random() * 223)).join('.'),
});
const modeOf = (turn: number) => (turn % 2 === 0 ? 'live' : 'test');

const hostileLogos: Attack = {
  name: 'hostile logos',
  async run({ url, keys, heavy }, signal, answered) {
    const svg = 'image/svg+xml';
    const files = [
      { body: repeatedPath(), type: svg },
      { body: detailedClip(), type: svg },
      { body: layers(1_600), type: svg },
      { body: layers(80), type: svg },
      { body: twoImages(), type: 'image/webp' },
    ] as const;
    const size = () => 1_500 + Math.floor(Math.random() * 548);
    await Promise.all([
      storm(8, signal, answered, (worker, turn) => {
        const { body, type } = files[(worker + turn) % files.length] as (typeof files)[number];
        const headers = { authorization: `Bearer ${keys[modeOf(turn)]}`, 'content-type': type };
        return fetch(`${url}/v1/logos`, { method: 'POST', headers, body: Buffer.from(body), signal });
      }),
      storm(8, signal, answered, () =>
        fetch(`${url}/images/${heavy}/public?size=${size()}`, { headers: anyAddress(), signal: abandoned(signal) }),
      ),
      storm(8, signal, answered, () =>
        fetch(`${url}/images/${heavy}/public?size=${size()}`, { headers: anyAddress(), signal }),
      ),
      storm(4, signal, answered, () =>
        fetch(`${url}/v1/qrcodes/${heavy}/download?size=${size()}`, { headers: bearer(keys.live), signal }),
      ),
    ]);
  },
};

const abandonedSheets: Attack = {
  name: '1,000-label sheets, abandoned',
  async run({ url, keys, labels }, signal, answered) {
    const body = JSON.stringify({ qr_ids: labels, layout: 'a4-3x8', caption: 'name' });
    const request = (until: AbortSignal) =>
      fetch(`${url}/v1/sheets`, { method: 'POST', headers: json(keys.live), body, signal: until });
    await Promise.all([
      storm(6, signal, answered, () => request(abandoned(signal))),
      storm(2, signal, answered, () => request(signal)),
    ]);
  },
};

const reverts: Attack = {
  name: 'reverts of 5,000 codes',
  async run({ url, reverting }, signal, answered) {
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const revert = (turn: number, isDryRun: boolean, until: AbortSignal) => {
      const [changed, by] = [reverting[turn % 2], reverting[(turn + 1) % 2]];
      const body = JSON.stringify({ actor: changed?.id, from, dry_run: isDryRun });
      return fetch(`${url}/v1/account/revert`, { method: 'POST', headers: json(by?.key ?? ''), body, signal: until });
    };
    await Promise.all([
      storm(1, signal, answered, (_, turn) => revert(turn, false, signal)),
      storm(2, signal, answered, (_, turn) => revert(turn, true, abandoned(signal))),
    ]);
  },
};

const bulkUpdates: Attack = {
  name: 'bulk updates of 1,000 codes',
  async run({ url, keys, labels }, signal, answered) {
    const update = (turn: number, isDryRun: boolean, until: AbortSignal) => {
      const set = { destination_url: `https://example.com/${turn}` };
      const body = JSON.stringify({ qr_ids: labels, set, dry_run: isDryRun });
      return fetch(`${url}/v1/qrcodes/bulk-update`, { method: 'POST', headers: json(keys.live), body, signal: until });
    };
    await Promise.all([
      storm(2, signal, answered, (_, turn) => update(turn, false, signal)),
      storm(2, signal, answered, (_, turn) => update(turn, true, abandoned(signal))),
    ]);
  },
};

const replays: Attack = {
  name: 'webhook replays',
  async run({ url, keys, webhooks }, signal, answered) {
    const from = new Date(Date.now() - 3_600_000).toISOString();
    await storm(webhooks.fast.length, signal, answered, async (worker) => {
      const path = `${url}/v1/webhooks/${webhooks.fast[worker]}/replay`;
      const body = JSON.stringify({ from, only: 'all' });
      const response = await fetch(path, { method: 'POST', headers: json(keys.live), body, signal });
      const { id } = (await response.clone().json()) as { id?: string };
      await Bun.sleep(1_000);
      if (id !== undefined) await fetch(`${path}s/${id}`, { method: 'DELETE', headers: bearer(keys.live) });
      return response;
    });
  },
};

/** Scans of the attacker's own code, as a stranger may send them. */
async function scanning({ url, scanned }: Attacker, signal: AbortSignal, rate: number): Promise<void> {
  const load = startLoad(`${url}/${scanned.short_code}`, { connections: 8, seconds: 120, rate });
  await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await load.stop();
}

const streams: Attack = {
  name: '300 event streams, unread',
  async run(attacker, signal, answered) {
    const { url, keys } = attacker;
    const open = async (i: number) => {
      const headers = { authorization: `Bearer ${keys[modeOf(i)]}`, accept: 'text/event-stream' };
      const response = await fetch(`${url}/v1/events`, { headers, signal }).catch(() => undefined);
      answered(response?.status ?? 'abandoned');
      // Its body is not read: the service must not collect it.
      return response;
    };
    const opened = await Promise.all([
      ...Array.from({ length: 300 }, (_, i) => open(i)),
      scanning(attacker, signal, 200),
    ]);
    for (const response of opened) await response?.body?.cancel().catch(() => {});
  },
};

/** As many as an account may have at once: refused ones would only use up its requests. */
const exports: Attack = {
  name: 'exports',
  async run({ url, keys }, signal, answered) {
    const path = `${url}/v1/analytics/export`;
    const headers = bearer(keys.live);
    await Promise.all([
      storm(6, signal, answered, (_, turn) =>
        fetch(`${path}?format=${turn % 2 === 0 ? 'csv' : 'json'}`, { headers, signal }),
      ),
      storm(2, signal, answered, () => fetch(path, { headers, signal: abandoned(signal) })),
    ]);
  },
};

const longHeaders: Attack = {
  name: 'long headers',
  async run({ url, scanned }, signal, answered) {
    const tag = () => Math.random().toString(36).slice(2, 6);
    const language = () => Array.from({ length: 190 }, tag).join('-').slice(0, 999);
    await storm(8, signal, answered, async () => {
      await Bun.sleep(25);
      return fetch(`${url}/${scanned.short_code}`, {
        headers: { ...anyAddress(), 'accept-language': language(), 'user-agent': `${language()}${language()}` },
        redirect: 'manual',
        signal,
      });
    });
  },
};

const endlessResponses: Attack = {
  name: 'receivers that never end',
  async run(attacker, signal, answered) {
    const { url, keys, webhooks } = attacker;
    await Promise.all([
      storm(2 * webhooks.endless.length, signal, answered, (worker) =>
        fetch(`${url}/v1/webhooks/${webhooks.endless[worker % webhooks.endless.length]}/test`, {
          method: 'POST',
          headers: bearer(keys.live),
          signal,
        }),
      ),
      scanning(attacker, signal, 50),
    ]);
  },
};

const attacks: Attack[] = [
  hostileLogos,
  abandonedSheets,
  reverts,
  bulkUpdates,
  replays,
  streams,
  exports,
  longHeaders,
  endlessResponses,
];

const together: Attack = {
  name: 'all of them at once',
  run: async (attacker, signal, answered) => {
    await Promise.all(attacks.map((attack) => attack.run(attacker, signal, answered)));
  },
};

export const attackNames = [...attacks, together].map(({ name }) => name);

export const attackNamed = (name: string | undefined): Attack | undefined =>
  [...attacks, together].find((attack) => attack.name === name);
