import { type Static, type TObject, type TSchema, Type as t } from '@sinclair/typebox';
import { oneOf } from '../../../events/one-of.ts';
import { type FieldError, invalid } from '../../lib/errors.ts';
import { problemWithLength } from '../../qr/capacity.ts';
import { writeContent } from '../../qr/content/content.ts';
import { type Content, type ContentType, contentSchemas } from '../../qr/content/schemas.ts';
import type { Look } from '../../qr/style.ts';
import { exact } from '../http/schemas.ts';
import { errorFinder } from '../http/validate.ts';

const { wifi, vcard, text, email, phone, sms, geo, event } = contentSchemas;

/** What a static code contains; `type` decides which fields it has. */
export const contentField = t.Union([wifi, vcard, text, email, phone, sms, geo, event], {
  description:
    'What the code contains, by its `type`: the access to a Wi-Fi network (as ZXing writes it), a contact (vCard 3.0), a text, an e-mail (`mailto:`), a phone number (`tel:`), a text message (`SMSTO:`), a place (`geo:`) or an event (iCalendar, in UTC).',
});

const errorsOf = (schema: TSchema) => errorFinder(t.Object({ content: schema }), 'body');
const errorsByType = new Map(Object.entries(contentSchemas).map(([type, schema]) => [type, errorsOf(schema)]));
const errorsOfUnknown = errorsOf(t.Object({ type: oneOf(Object.keys(contentSchemas) as ContentType[]) }));

/**
 * Returns a function that validates a body with a `content`, which is checked by its own type so that errors name its fields.
 * Throws 400 with every error.
 */
export function bodyReader<S extends TObject>(schema: S): (body: unknown) => Static<S> {
  const content = schema.required?.includes('content') ? t.Unknown() : t.Optional(t.Unknown());
  const findOthers = errorFinder(t.Object({ ...schema.properties, content }, exact), 'body');
  return (body) => {
    const [first, ...rest] = [...findOthers(body), ...contentErrors(body)];
    if (first !== undefined) throw invalid([first, ...rest]);
    return body as Static<S>;
  };
}

function contentErrors(body: unknown): FieldError[] {
  const { content } = (body ?? {}) as { content?: unknown };
  if (content === undefined) return [];
  const { type } = (content ?? {}) as { type?: unknown };
  const findErrors = errorsByType.get(String(type)) ?? errorsOfUnknown;
  return findErrors({ content });
}

/** The text that a symbol gets; throws 400 for a content that cannot be written, or has more bytes than fit. */
export function textOf(content: Content, level: Look['errorCorrection']): string {
  const written = writeContent(content);
  if ('problems' in written) {
    const [first, ...rest] = written.problems.map(({ field, problem }) => ({
      field: `content.${field}`,
      message: `content.${field} ${problem}.`,
    }));
    throw invalid([first as FieldError, ...rest]);
  }
  const problem = problemWithLength(written.text, level);
  if (problem !== undefined) throw invalid([{ field: 'content', message: `content ${problem}.` }]);
  return written.text;
}
