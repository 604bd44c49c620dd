import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { contentDisposition } from '../../src/qr/file-name.ts';

describe('file names', () => {
  const cases: [what: string, name: string, ascii: string, utf8?: string][] = [
    ['plain', 'Summer menu', 'Summer menu.png'],
    ['dots inside', 'v1.2 final', 'v1.2 final.png'],
    ['accents', 'Café Zoë', 'Cafe Zoe.png', 'Caf%C3%A9%20Zo%C3%AB.png'],
    ['another script', '菜单', 'qr-code.png', '%E8%8F%9C%E5%8D%95.png'],
    ['emoji', 'Party 🎉', 'Party.png', 'Party%20%F0%9F%8E%89.png'],
    ['only an emoji', '👩‍👩‍👧', 'qr-code.png', '%F0%9F%91%A9%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7.png'],
    ['empty', '', 'qr-code.png'],
    ['only spaces and dots', ' .. . ', 'qr-code.png'],
    ['path separators', '../../etc/passwd', 'etc-passwd.png'],
    ['Windows paths', 'C:\\temp\\x', 'C-temp-x.png'],
    ['a hidden file', '.htaccess', 'htaccess.png'],
    ['a device', 'CON', 'qr-code-CON.png'],
    ['a device with an extension', 'nul.txt', 'qr-code-nul.txt.png'],
    ['header injection', 'a\r\nSet-Cookie: x=1', 'a Set-Cookie- x=1.png'],
    ['quotes and parameters', 'x"; filename="evil.exe', 'x-- filename=-evil.exe.png'.replace('--', '-')],
    ['percent signs', '100%41', '100-41.png'],
    ['a direction override', 'invoice\u202egnp.exe', 'invoice gnp.exe.png'],
    ['lone surrogates', 'a\ud800b', 'a b.png'],
    ['reserved in RFC 8187', "Zoë's (best)*!", "Zoe's (best)-!.png", 'Zo%C3%AB%27s%20%28best%29-%21.png'],
  ];
  test.each(cases)('%s', (_, name, ascii, utf8) => {
    const expected = `attachment; filename="${ascii}"${utf8 ? `; filename*=UTF-8''${utf8}` : ''}`;
    expect(contentDisposition(name, 'png')).toBe(expected);
  });

  test('inline', () => {
    expect(contentDisposition('Menu', 'svg', 'inline')).toBe('inline; filename="Menu.svg"');
  });

  test('a very long name is cut between characters', () => {
    expect(contentDisposition('x'.repeat(5000), 'png')).toBe(`attachment; filename="${'x'.repeat(120)}.png"`);
    const [, encoded = ''] = contentDisposition('🎉'.repeat(500), 'png').split("UTF-8''");
    expect(decodeURIComponent(encoded)).toBe(`${'🎉'.repeat(30)}.png`);
  });

  test('any name gives a header that is safe and says one file name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (name) => {
        const header = contentDisposition(name, 'png');
        expect(header).toMatch(
          /^attachment; filename="[^"\\/%;:*?<>|.\s-][^"\\/%;:*?<>|]{0,130}\.png"(; filename\*=UTF-8''[\w.~%-]+)?$/,
        );
        expect(header).toMatch(/^[\x20-\x7e]+$/);
        const [, encoded] = header.split("UTF-8''");
        if (encoded) expect(decodeURIComponent(encoded)).not.toMatch(/[\p{Cc}\p{Bidi_Control}/\\"]/u);
      }),
      { numRuns: 500 },
    );
  });
});
