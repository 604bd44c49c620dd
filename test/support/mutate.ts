import fc from 'fast-check';

/** Numbers that lengths, counts and offsets of a format are tried with. */
const oddNumbers = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];

/** One change of a file. Positions and lengths are taken modulo its size, so that they fit a file of any size. */
type Mutation =
  | { kind: 'flip'; at: number; bit: number }
  | { kind: 'write'; at: number; bytes: Uint8Array }
  | { kind: 'number'; at: number; value: number; width: 1 | 2 | 4; isLittle: boolean }
  | { kind: 'cut'; at: number }
  | { kind: 'remove'; at: number; length: number }
  | { kind: 'splice'; at: number; from: number; length: number; file: number };

const position = fc.nat(0xffffff);
const length = fc.nat(64);
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('flip' as const), at: position, bit: fc.nat(7) }),
  fc.record({
    kind: fc.constant('write' as const),
    at: position,
    bytes: fc.uint8Array({ minLength: 1, maxLength: 4 }),
  }),
  fc.record({
    kind: fc.constant('number' as const),
    at: position,
    value: fc.constantFrom(...oddNumbers),
    width: fc.constantFrom(1 as const, 2 as const, 4 as const),
    isLittle: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('cut' as const), at: position }),
  fc.record({ kind: fc.constant('remove' as const), at: position, length }),
  fc.record({ kind: fc.constant('splice' as const), at: position, from: position, length, file: fc.nat(9) }),
);

function apply(file: Buffer, change: Mutation, files: readonly Uint8Array[]): Buffer {
  const at = change.at % (file.length + 1);
  switch (change.kind) {
    case 'flip':
      return overwritten(file, at, [(file[at] ?? 0) ^ (1 << change.bit)]);
    case 'write':
      return overwritten(file, at, change.bytes);
    case 'number': {
      const bytes = Buffer.alloc(4);
      bytes.writeUInt32BE(change.value);
      const written = bytes.subarray(4 - change.width);
      return overwritten(file, at, change.isLittle ? written.reverse() : written);
    }
    case 'cut':
      return file.subarray(0, at);
    case 'remove':
      return Buffer.concat([file.subarray(0, at), file.subarray(at + change.length)]);
    case 'splice': {
      const other = files[change.file % files.length] as Uint8Array;
      const from = change.from % (other.length + 1);
      return Buffer.concat([file.subarray(0, at), other.subarray(from, from + change.length), file.subarray(at)]);
    }
  }
}

function overwritten(file: Buffer, at: number, bytes: ArrayLike<number>): Buffer {
  const changed = Buffer.from(file);
  for (let i = 0; i < bytes.length && at + i < changed.length; i++) changed[at + i] = bytes[i] as number;
  return changed;
}

/**
 * One of some valid files with a few bytes changed, removed, cut off, or taken from another one: decoders get further into
 * these than into random bytes.
 *
 * @example
 * fc.assert(fc.property(mutated([png()]), (bytes) => void readPngHeader(bytes)));
 */
export const mutated = (files: readonly Uint8Array[], maxMutations = 4): fc.Arbitrary<Buffer> =>
  fc
    .tuple(fc.nat(files.length - 1), fc.array(mutation, { minLength: 1, maxLength: maxMutations }))
    .map(([file, changes]) =>
      changes.reduce<Buffer>((bytes, change) => apply(bytes, change, files), Buffer.from(files[file] as Uint8Array)),
    );

/** Like `mutated`, for texts. Their characters are taken as bytes, so that others than ASCII come as well. */
export const mutatedText = (texts: readonly string[], maxMutations = 4): fc.Arbitrary<string> =>
  mutated(
    texts.map((text) => Buffer.from(text, 'latin1')),
    maxMutations,
  ).map((bytes) => bytes.toString('latin1'));
