import { createSocket } from 'node:dgram';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type Packet,
  RECURSION_AVAILABLE,
  type StringAnswer,
  streamEncode,
  TRUNCATED_RESPONSE,
  type TxtAnswer,
} from 'dns-packet';
import { afterAll, beforeAll } from 'vitest';
import type { DnsServer } from '../../src/lib/dns.ts';

/** What the server does with a query instead of answering it from its records. */
export type Fault = 'silent' | 'servfail' | 'truncated' | 'forged' | 'garbage';

export interface TestDns {
  /** Where it listens; set when the first test begins. */
  servers: DnsServer[];
  /** Sets the records of a name, which may begin with `*.`. Each TXT record is a text, or the strings that it is split into. */
  set(name: string, records: { A?: string[]; AAAA?: string[]; TXT?: (string | string[])[]; CNAME?: string }): void;
  remove(name: string): void;
  /** Queries of this name get a fault from now on; undefined for none. */
  fail(name: string, fault: Fault | undefined): void;
  /** How many queries of a name came, over each transport. */
  queries(name: string): { udp: number; tcp: number };
}

type TestRecord = StringAnswer | TxtAnswer;

const noSuchName = 3;
const serverFailure = 2;

/** A DNS server on loopback, for the tests of one file. */
export function useDns(): TestDns {
  const records = new Map<string, TestRecord[]>();
  const faults = new Map<string, Fault>();
  const counts = new Map<string, { udp: number; tcp: number }>();
  const servers: DnsServer[] = [];
  const udp = createSocket('udp4');
  const connections = new Set<Socket>();

  /** The records of the name itself, else the records of the wildcard above it. */
  const recordsOf = (name: string) => records.get(name) ?? records.get(name.replace(/^[^.]+/, '*'));

  function answersTo(name: string, type: string): Answer[] | undefined {
    const found = recordsOf(name)?.map((record): Answer => ({ ...record, name }));
    const alias = recordsOf(name)?.find((record) => record.type === 'CNAME');
    const own = found?.filter((record) => record.type === type);
    if (alias?.type !== 'CNAME') return own;
    return [{ ...alias, name }, ...(answersTo(alias.data, type) ?? [])];
  }

  function packetFor(query: DecodedPacket, transport: 'udp' | 'tcp'): Packet | undefined {
    const [question] = query.questions ?? [];
    if (question === undefined) return undefined;
    const name = question.name.toLowerCase();
    const count = counts.get(name) ?? { udp: 0, tcp: 0 };
    count[transport]++;
    counts.set(name, count);
    const fault = faults.get(name);
    const packet: Packet = { type: 'response', id: query.id, questions: [question] };
    if (fault === 'silent') return undefined;
    if (fault === 'servfail') return { ...packet, flags: RECURSION_AVAILABLE | serverFailure };
    if (fault === 'truncated' && transport === 'udp')
      return { ...packet, flags: RECURSION_AVAILABLE | TRUNCATED_RESPONSE };
    const answers = answersTo(name, question.type);
    const flags = RECURSION_AVAILABLE | (answers === undefined ? noSuchName : 0);
    return {
      ...packet,
      id: fault === 'forged' ? ((query.id ?? 0) + 1) % 65_536 : query.id,
      flags,
      answers: answers ?? [],
    };
  }

  udp.on('message', (bytes, from) => {
    const query = decode(bytes);
    const packet = packetFor(query, 'udp');
    if (packet === undefined) return;
    const isGarbage = faults.get(query.questions?.[0]?.name.toLowerCase() ?? '') === 'garbage';
    udp.send(isGarbage ? bytes.subarray(0, 7) : encode(packet), from.port, from.address);
  });
  const tcp = createServer((socket) => {
    connections.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      const packet = packetFor(decode(bytes.subarray(2)), 'tcp');
      if (packet === undefined) return;
      // In two pieces, as a network may deliver it.
      const sent = streamEncode(packet);
      socket.write(sent.subarray(0, 1), () => socket.write(sent.subarray(1)));
    });
  });

  beforeAll(async () => {
    await new Promise<void>((resolve) => tcp.listen(0, '127.0.0.1', resolve));
    const { port } = tcp.address() as AddressInfo;
    await new Promise<void>((resolve) => udp.bind(port, '127.0.0.1', resolve));
    servers.push({ address: '127.0.0.1', port });
  });
  afterAll(() => {
    for (const socket of connections) socket.destroy();
    tcp.close();
    udp.close();
  });

  return {
    servers,
    set(name, { A = [], AAAA = [], TXT = [], CNAME }) {
      const common = { name, ttl: 0 };
      records.set(name, [
        ...A.map((data): TestRecord => ({ ...common, type: 'A', data })),
        ...AAAA.map((data): TestRecord => ({ ...common, type: 'AAAA', data })),
        ...TXT.map((data): TestRecord => ({ ...common, type: 'TXT', data })),
        ...(CNAME === undefined ? [] : [{ ...common, type: 'CNAME', data: CNAME } as const]),
      ]);
    },
    remove: (name) => records.delete(name),
    fail(name, fault) {
      if (fault === undefined) faults.delete(name);
      else faults.set(name, fault);
    },
    queries: (name) => counts.get(name) ?? { udp: 0, tcp: 0 },
  };
}
