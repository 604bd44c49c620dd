/**
 * Emscripten's function by which a thread wakes another one that waits, to pass it a call of the file system: it notifies the
 * address that the other one waits at, until that one has left. `thread + 0xd8` is this address, with its lowest bit set.
 *
 *     loop: notify(address); if (load(thread + 0xd8) == address | 1) continue
 */
const beforeCall = Buffer.from(
  '01027e024020004201fe3403d8012201502001420183a7720d00200142018422022000fe1103d801520d000340200141ffffffff0710',
  'hex',
);
const afterCall = Buffer.from('2000fe1103d8012002510d000b0b0b', 'hex');
/** `memory.atomic.wait64(thread + 0xd8, address | 1, 50_000 ns)`: until the other thread has left, at most 50 µs. */
const pause = Buffer.from('2000200242d08603fe0203d8011a', 'hex');
const maxIndexBytes = 5;
const codeSection = 10;

/**
 * Adds a pause to the loop in which threads of the engine wake each other. V8 has one mutex for all waits and notifications: a
 * thread that notifies without a pause keeps the one that it wakes from leaving, and both use a core meanwhile.
 *
 * Returns undefined for a module without this function, which another version of Emscripten has made.
 */
export function withPauseBetweenNotifications(module: Buffer): Buffer<ArrayBuffer> | undefined {
  const start = module.indexOf(beforeCall);
  const pauseAt = module.indexOf(afterCall, start + beforeCall.length);
  const isFound = start > 0 && pauseAt > 0 && pauseAt - start - beforeCall.length <= maxIndexBytes;
  const section = isFound ? findSection(module, codeSection) : undefined;
  const bodyBytes = pauseAt + afterCall.length - start;
  // The size of the function is one byte before and after.
  if (section === undefined || module[start - 1] !== bodyBytes || bodyBytes + pause.length > 0x7f) return undefined;
  return Buffer.concat([
    module.subarray(0, section.sizeAt),
    encodeSize(section.bytes + pause.length),
    module.subarray(section.bodyAt, start - 1),
    Buffer.from([bodyBytes + pause.length]),
    module.subarray(start, pauseAt),
    pause,
    module.subarray(pauseAt),
  ]);
}

interface Section {
  sizeAt: number;
  bodyAt: number;
  bytes: number;
}

function findSection(module: Buffer, id: number): Section | undefined {
  const headerBytes = 8;
  for (let at = headerBytes; at < module.length; ) {
    const { value: bytes, end } = decodeSize(module, at + 1);
    if (module[at] === id) return { sizeAt: at + 1, bodyAt: end, bytes };
    at = end + bytes;
  }
  return undefined;
}

/** LEB128, as all sizes in WebAssembly. */
function decodeSize(module: Buffer, at: number): { value: number; end: number } {
  let value = 0;
  for (let end = at, factor = 1; ; factor *= 0x80) {
    const byte = module.readUInt8(end++);
    value += (byte & 0x7f) * factor;
    if (byte < 0x80) return { value, end };
  }
}

function encodeSize(value: number): Buffer {
  const bytes: number[] = [];
  for (let left = value; ; left = Math.floor(left / 0x80)) {
    if (left < 0x80) return Buffer.from([...bytes, left]);
    bytes.push((left % 0x80) | 0x80);
  }
}
