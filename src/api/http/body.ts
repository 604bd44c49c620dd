import { invalid, Refusal } from '../../lib/errors.ts';
import { findJsonError } from '../../lib/json-error.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { withTimeout } from '../../lib/with-timeout.ts';

const maxBodyBytes = 1024 * 1024;

const tooLarge = () => new Refusal('payload_too_large', 'The body must have at most 1 MiB.');
const malformed = (message: string) => invalid([{ field: 'body', message }]);
const rejectSlowBody = () => {
  throw malformed(`The body must arrive within ${timeouts.bodyMs / 1000} s.`);
};

/** Reads the body as JSON. Checks its size while it arrives, so that no client can make the service buffer more. */
export async function readJson(request: Request): Promise<unknown> {
  const type = request.headers.get('content-type') ?? '';
  if (!/^application\/json\s*(;|$)/i.test(type) || /charset=(?!"?utf-?8)/i.test(type))
    throw new Refusal('unsupported_media_type', 'The Content-Type must be application/json, in UTF-8.');
  if (request.headers.has('content-encoding'))
    throw new Refusal('unsupported_media_type', 'The body must not be compressed (no Content-Encoding).');
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge();

  const text = await withTimeout(readText(request), timeouts.bodyMs, rejectSlowBody);
  try {
    return JSON.parse(text);
  } catch {
    throw malformed(messageFor(text));
  }
}

function messageFor(text: string): string {
  if (text.trim() === '') return 'The body must be valid JSON, and it is empty.';
  const found = findJsonError(text);
  // JSON.parse also refuses what is nested too deeply.
  if (found === undefined) return 'The body must be valid JSON that is not nested too deeply.';
  return `The body must be valid JSON: line ${found.line}, column ${found.column}: ${found.problem}.`;
}

async function readText(request: Request): Promise<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let text = '';
  try {
    for await (const chunk of chunksOf(request, maxBodyBytes, tooLarge))
      text += decoder.decode(chunk, { stream: true });
    return text + decoder.decode();
  } catch (error) {
    throw error instanceof Refusal ? error : malformed('The body must arrive whole and be UTF-8 text.');
  }
}

/** Reads the body as it is. */
export async function readBytes(
  request: Request,
  maxBytes: number,
  tooLarge: () => Refusal,
): Promise<Uint8Array<ArrayBuffer>> {
  if (request.headers.has('content-encoding'))
    throw new Refusal('unsupported_media_type', 'The body must not be compressed (no Content-Encoding).');
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge();
  const collect = async () => {
    const chunks: Uint8Array[] = [];
    try {
      for await (const chunk of chunksOf(request, maxBytes, tooLarge)) chunks.push(chunk);
    } catch (error) {
      throw error instanceof Refusal ? error : malformed('The body must arrive whole.');
    }
    return new Uint8Array(Buffer.concat(chunks));
  };
  return withTimeout(collect(), timeouts.bodyMs, rejectSlowBody);
}

async function* chunksOf(request: Request, maxBytes: number, tooLarge: () => Refusal): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge();
    yield chunk;
  }
}
