import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { describe, expect, test } from 'vitest';
import { authorization, type Subject } from './clickhouse-subject.ts';

const maxValueBytes = 131_072;
const maxUriBytes = 1_048_576;

/** The default limits of a ClickHouse server, and its errors beyond them. */
export function limitsSuite(subject: Subject): void {
  describe('has the limits of a server', () => {
    const length = 'SELECT length({p:String})';
    const refusal = (message: string) =>
      new RegExp(
        `^Poco::Exception\\. Code: 1000, e\\.code\\(\\) = 0, HTML Form Exception: ${message} \\(version [\\d.]+\\)\n$`,
      );

    async function expectRefused(answer: Response, message: string) {
      expect(answer.status).toBe(500);
      expect(answer.headers.get('x-clickhouse-exception-code')).toBe('1000');
      expect(await answer.text()).toMatch(refusal(message));
    }

    test('131,072 bytes for a value in the URL', async () => {
      const longest = await subject.ask(length, `&param_p=${'x'.repeat(maxValueBytes)}`);
      expect(await longest.text()).toBe(`${maxValueBytes}\n`);
      const longer = await subject.ask(length, `&param_p=${'x'.repeat(maxValueBytes + 1)}`);
      await expectRefused(longer, 'Field value too long');
    });

    test('131,072 bytes for a value in the URL, counted in encoded form', async () => {
      const space = '%20';
      const answer = await subject.ask(length, `&param_p=${space.repeat(Math.ceil(maxValueBytes / space.length))}`);
      await expectRefused(answer, 'Field value too long');
    });

    test('131,072 bytes for a value in a form, where they are not encoded', async () => {
      const send = (value: string) => {
        const body = new FormData();
        body.set('query', length);
        body.set('param_p', value);
        return fetch(`${subject.server.url}/`, { method: 'POST', body, headers: { authorization } });
      };
      expect(await (await send(' '.repeat(maxValueBytes))).text()).toBe(`${maxValueBytes}\n`);
      await expectRefused(await send('ü'.repeat(maxValueBytes / 2 + 1)), 'Field value too long');
    });

    test('131,072 bytes for a name', async () => {
      const answer = await subject.ask('SELECT 1', `&${'n'.repeat(maxValueBytes + 1)}=1`);
      await expectRefused(answer, 'Field name too long');
    });

    test('no limit for a query in the body', async () => {
      const answer = await subject.ask(`SELECT length('${'x'.repeat(maxValueBytes + 1)}')`);
      expect(await answer.text()).toBe(`${maxValueBytes + 1}\n`);
    });

    test('1 MiB for a URL, beyond which it answers 400 without a body', async () => {
      const field = `&param_p=${'x'.repeat(100_000)}`;
      const socket = await subject.send(
        field.repeat(Math.ceil(maxUriBytes / field.length)),
        'Content-Length: 0\r\n\r\n',
      );
      const answer = await text(socket);
      if (!socket.destroyed) await once(socket, 'close');
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answer).toMatch(/\r\n\r\n(?:0\r\n\r\n)?$/);
    });

    test('and the client reports the exceeded limit', async () => {
      const query_params = { p: 'x'.repeat(maxValueBytes + 1) };
      await expect(subject.db.query({ query: length, query_params })).rejects.toThrow('Field value too long');
    });
  });
}
