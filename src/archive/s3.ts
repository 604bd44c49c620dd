import { codeOf, messageOf } from '../lib/errors.ts';
import { ArchiveError, ArchiveFileMissing } from './errors.ts';
import type { ArchiveFiles } from './files.ts';

/** How S3 is reached; Bun's client has a default for what is undefined. */
export interface S3Access {
  endpoint: string | undefined;
  region: string | undefined;
  accessKeyId: string | undefined;
  secretAccessKey: string | undefined;
}

const partBytes = 16 * 1024 * 1024;
const upload = { type: 'application/vnd.apache.parquet', partSize: partBytes, queueSize: 2, retry: 3 };

/** Files at `s3://bucket/key`, in Amazon's or any other S3. */
export function s3Files(access: S3Access): Omit<ArchiveFiles, 'stage' | 'discard'> {
  const options = Object.fromEntries(Object.entries(access).filter(([, value]) => value !== undefined));
  const clients = new Map<string, Bun.S3Client>();
  const at = (location: string) => {
    const [, bucket = '', key = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(location) ?? [];
    const client = clients.get(bucket) ?? new Bun.S3Client({ ...options, bucket });
    clients.set(bucket, client);
    return { client, key };
  };
  /** The responses to HEAD and to the start of an upload have no reason; that to a read has. */
  const failWithReason = async (location: string, verb: string, error: unknown): Promise<never> => {
    const { client, key } = at(location);
    const reason = await client
      .file(key)
      .slice(0, 1)
      .bytes()
      .then(() => error)
      .catch((thrown) => (isMissing(thrown) && !isMissing(error) ? error : thrown));
    return fail(location, verb, reason);
  };
  return {
    async put(staged, location) {
      const { client, key } = at(location);
      await client.write(key, Bun.file(staged), upload).catch((error) => failWithReason(location, 'written', error));
    },
    async size(location) {
      const { client, key } = at(location);
      const { size } = await client.stat(key).catch((error) => failWithReason(location, 'read', error));
      return size;
    },
    async read(location, start, end) {
      const { client, key } = at(location);
      const range = client.file(key).slice(start, end);
      const bytes = await range.bytes().catch((error) => fail(location, 'read', error));
      if (bytes.length !== end - start) fail(location, 'read', new Error(`it ends before byte ${end}`));
      return bytes;
    },
    async delete(location) {
      const { client, key } = at(location);
      await client.delete(key).catch((error) => {
        if (!isMissing(error)) fail(location, 'deleted', error);
      });
    },
  };
}

const isMissing = (error: unknown) => codeOf(error) === 'NoSuchKey';
/** Bun's message for everything that is not a response of S3. */
const isUnexplained = (message: string) => message === '' || message === 'an unexpected error has occurred';

function fail(location: string, verb: string, error: unknown): never {
  if (isMissing(error)) throw new ArchiveFileMissing(location);
  const [code, message] = [codeOf(error), messageOf(error).replace(/\.$/, '')];
  const reason = isUnexplained(message) ? `S3 cannot be reached (${code}): check ARCHIVE_S3_ENDPOINT` : message;
  const isCredentials = /MISSING_CREDENTIALS|InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied/.test(code);
  const hint = isCredentials ? ' Check ARCHIVE_S3_ACCESS_KEY_ID and ARCHIVE_S3_SECRET_ACCESS_KEY.' : '';
  throw new ArchiveError(`The archive file ${location} cannot be ${verb}: ${reason}.${hint}`);
}
