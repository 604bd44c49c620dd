import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { getServers } from 'node:dns';
import { connect } from 'node:net';
import {
  type Answer,
  type DecodedPacket,
  decode,
  encode,
  type Packet,
  RECURSION_DESIRED,
  streamEncode,
} from 'dns-packet';
import { beforeAbort } from './before-abort.ts';
import { parseAddress } from './ip-address.ts';
import { timeouts } from './timeouts.ts';

/**
 * Queries of DNS records. Not `node:dns`: in Bun 1.4.4, it returns each string of a TXT record as a record of its own, so that
 * a value over 255 characters cannot be put together, and it answers from a cache of its own, which no option switches off.
 */

export interface DnsServer {
  address: string;
  port: number;
}

export type RecordType = 'A' | 'AAAA' | 'TXT';

/** No server gave an answer: none arrived, or it was an error. The message completes "the DNS …". */
export class DnsUnavailable extends Error {}

/** Returns the values of all records of one type; none if the name does not exist. Throws `DnsUnavailable`. */
export type QueryDns = (name: string, type: RecordType, signal: AbortSignal) => Promise<string[]>;

const dnsPort = 53;
/** Each server is asked this often, because a datagram may get lost. */
const attempts = 2;

/** Reads `127.0.0.1:53`, `127.0.0.1`, `[::1]:53` or `::1`; undefined for anything else. */
export function readDnsServer(text: string): DnsServer | undefined {
  const bracketed = /^\[([^\]]+)\](?::(\d{1,5}))?$/.exec(text) ?? /^([^:]+)(?::(\d{1,5}))?$/.exec(text);
  const [, address = text, port = String(dnsPort)] = bracketed ?? [];
  const isValid = parseAddress(address) !== null && Number(port) >= 1 && Number(port) <= 65_535;
  return isValid ? { address, port: Number(port) } : undefined;
}

/** Those that /etc/resolv.conf names, read at each call. */
const systemServers = (): DnsServer[] =>
  getServers()
    .map(readDnsServer)
    .filter((server) => server !== undefined);

/**
 * Creates a function that queries these servers, or the servers of the system, one after another until one answers.
 *
 * @example
 * const query = dnsClient([{ address: '127.0.0.1', port: 53 }]);
 * await query('_scanlog.go.example.com', 'TXT', AbortSignal.timeout(5_000)); // ['scanlog-verify=…']
 */
export function dnsClient(servers?: DnsServer[]): QueryDns {
  return async (name, type, signal) => {
    const all = servers ?? systemServers();
    let failure = new DnsUnavailable('cannot be queried: this computer has no DNS server');
    for (const server of Array.from({ length: attempts }, () => all).flat()) {
      try {
        return valuesIn(await queryServer(server, name, type, signal), type);
      } catch (error) {
        signal.throwIfAborted();
        failure = error instanceof DnsUnavailable ? error : new DnsUnavailable('did not answer');
      }
    }
    throw failure;
  };
}

/** Response codes of RFC 1035. */
const noError = 0;
const noSuchName = 3;
const errorNames: Record<number, string> = { 1: 'FORMERR', 2: 'SERVFAIL', 4: 'NOTIMP', 5: 'REFUSED' };

type IsAnswer = (packet: DecodedPacket) => boolean;

async function queryServer(server: DnsServer, name: string, type: RecordType, signal: AbortSignal) {
  const id = randomInt(65_536);
  const query: Packet = { type: 'query', id, flags: RECURSION_DESIRED, questions: [{ name, type }] };
  const isAnswer: IsAnswer = ({ id: answered, type: kind, questions: [question] = [] }) =>
    answered === id && kind === 'response' && question?.type === type && question.name.toLowerCase() === name;
  const ended = AbortSignal.any([signal, AbortSignal.timeout(timeouts.dnsQueryMs)]);
  const overUdp = await exchangeUdp(server, query, isAnswer, ended);
  // Truncated: only a part of the records fits into a datagram.
  const answer = overUdp.flag_tc ? await exchangeTcp(server, query, isAnswer, ended) : overUdp;
  const code = (answer.flags ?? 0) & 15;
  if (code === noError || code === noSuchName) return answer;
  throw new DnsUnavailable(`answered with the error ${errorNames[code] ?? code}`);
}

/** A packet that can be decoded and is the answer; undefined for anything else, which anyone could have sent. */
function answerIn(bytes: Buffer, isAnswer: IsAnswer): DecodedPacket | undefined {
  try {
    const packet = decode(bytes);
    return isAnswer(packet) ? packet : undefined;
  } catch {
    return undefined;
  }
}

/** A socket of its own for each query: its port is one more number that a forged answer would have to guess. */
async function exchangeUdp({ address, port }: DnsServer, query: Packet, isAnswer: IsAnswer, signal: AbortSignal) {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  const answered = Promise.withResolvers<DecodedPacket>();
  socket.on('error', answered.reject);
  socket.on('message', (bytes) => {
    const answer = answerIn(bytes, isAnswer);
    if (answer !== undefined) answered.resolve(answer);
  });
  // Connected, so that datagrams of others are dropped, and a port that nothing listens on is reported.
  socket.connect(port, address, () => socket.send(encode(query)));
  return beforeAbort(signal, answered.promise).finally(() => socket.close());
}

/** Two bytes before each message are its length. */
const prefixBytes = 2;

async function exchangeTcp({ address, port }: DnsServer, query: Packet, isAnswer: IsAnswer, signal: AbortSignal) {
  const socket = connect({ host: address, port }, () => socket.write(streamEncode(query)));
  const answered = Promise.withResolvers<DecodedPacket>();
  let received = Buffer.alloc(0);
  socket.on('error', answered.reject);
  socket.on('close', () => answered.reject(new DnsUnavailable('closed the connection')));
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    const end = received.length < prefixBytes ? undefined : prefixBytes + received.readUInt16BE(0);
    if (end === undefined || received.length < end) return;
    const answer = answerIn(received.subarray(prefixBytes, end), isAnswer);
    if (answer === undefined) answered.reject(new DnsUnavailable('sent an answer that cannot be read'));
    else answered.resolve(answer);
  });
  return beforeAbort(signal, answered.promise).finally(() => socket.destroy());
}

/** Records of the name itself, or of the name that a CNAME leads to: a recursive server sends the whole chain. */
const valuesIn = ({ answers = [] }: DecodedPacket, type: RecordType): string[] =>
  answers.filter((answer) => answer.type === type).map(textOf);

/** A TXT record is a list of strings of up to 255 bytes, which together are its value. */
function textOf(answer: Answer): string {
  if (answer.type !== 'TXT') return String('data' in answer ? answer.data : '');
  return [answer.data].flat().map(String).join('');
}
