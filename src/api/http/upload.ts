import { invalid, Refusal } from '../../lib/errors.ts';
import { readBytes } from './body.ts';

const maxUploadBytes = 1024 * 1024;
/** Boundaries, names and other fields of a multipart body. */
const maxMultipartOverheadBytes = 64 * 1024;

/** Media types of images, and what a form sends. The content decides the format. */
export const uploadTypes = ['image/png', 'image/jpeg', 'image/webp', 'image/svg+xml', 'multipart/form-data'];

const tooLarge = () => new Refusal('payload_too_large', 'The image must have at most 1 MiB.');

/** Reads an uploaded file: the whole body, or the field `file` of a form. */
export async function readUpload(request: Request): Promise<Uint8Array> {
  const type = request.headers.get('content-type') ?? '';
  const mediaType = type.replace(/;.*$/s, '').trim().toLowerCase();
  if (!uploadTypes.includes(mediaType))
    throw new Refusal('unsupported_media_type', `The Content-Type must be one of ${uploadTypes.join(', ')}.`);
  if (mediaType !== 'multipart/form-data') return readBytes(request, maxUploadBytes, tooLarge);
  const bytes = await readBytes(request, maxUploadBytes + maxMultipartOverheadBytes, tooLarge);
  const form = await new Response(bytes, { headers: { 'content-type': type } }).formData().catch(() => {
    throw invalid([{ field: 'body', message: 'The body must be valid multipart/form-data.' }]);
  });
  const files = form.getAll('file');
  const [file] = files;
  if (files.length !== 1 || !(file instanceof Blob))
    throw invalid([{ field: 'file', message: 'file must be the one field with the image.' }]);
  if (file.size > maxUploadBytes) throw tooLarge();
  return new Uint8Array(await file.arrayBuffer());
}
