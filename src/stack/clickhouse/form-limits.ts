import { EngineError } from './errors.ts';

/** Defaults of ClickHouse for `http_max_uri_size`, `http_max_fields`, `http_max_field_name_size` and `http_max_field_value_size`. */
const maxUriBytes = 1_048_576;
const maxFields = 1_000_000;
const maxFieldNameBytes = 131_072;
const maxFieldValueBytes = 131_072;

/** ClickHouse reports an invalid form as an exception of its HTTP library, in another format. */
export class FormError extends EngineError {
  constructor(message: string) {
    super(1000, 'POCO_EXCEPTION', `HTML Form Exception: ${message}`);
  }

  override text(version: string): string {
    return `Poco::Exception. Code: ${this.code}, e.code() = 0, ${this.message} (version ${version})`;
  }
}

/** ClickHouse answers a longer URI with an empty 400 and closes the connection. */
export const isUriTooLong = (uri: string): boolean => uri.length > maxUriBytes;

/** Throws the error of ClickHouse if a query string exceeds the limits, which count encoded bytes. */
export function checkQueryString(uri: string): void {
  const start = uri.indexOf('?');
  if (start === -1) return;
  const fields = uri.slice(start + 1).split('&');
  checkCount(fields.length);
  for (const field of fields) {
    const equals = field.indexOf('=');
    const nameBytes = equals === -1 ? field.length : equals;
    checkField(nameBytes, field.length - nameBytes - (equals === -1 ? 0 : 1));
  }
}

/** Throws the error of ClickHouse if the fields of a multipart body, which are not encoded, exceed the limits. */
export function checkMultipart(fields: [name: string, value: string][]): void {
  checkCount(fields.length);
  for (const [name, value] of fields) checkField(Buffer.byteLength(name), Buffer.byteLength(value));
}

function checkCount(fields: number): void {
  if (fields > maxFields) throw new FormError('Too many form fields');
}

function checkField(nameBytes: number, valueBytes: number): void {
  if (nameBytes > maxFieldNameBytes) throw new FormError('Field name too long');
  if (valueBytes > maxFieldValueBytes) throw new FormError('Field value too long');
}
