import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../src/edge/device.ts';
import { bots } from './bot-user-agents.ts';
import { people } from './people-user-agents.ts';
import sample from './ua-cases.json';

describe('classify', () => {
  it.each(sample)('classifies the sample "$label"', ({ ua, device, browser, bot }) => {
    expect(classify(ua)).toEqual({ device, browser, bot });
  });

  it.each(people)('classifies %s as %s', (_, expected, ua) => {
    const { device, browser, bot } = classify(ua);
    expect(`${device} ${browser}${bot ? ' bot' : ''}`).toBe(expected);
  });

  it.each(bots)('classifies the bot %j as desktop and other', (ua) => {
    expect(classify(ua)).toEqual({ device: 'desktop', browser: 'other', bot: true });
  });

  it('returns a known value for any input', () => {
    const pieces = fc.constantFrom(
      'Mozilla/5.0 ',
      '(',
      ')',
      'iPhone; ',
      'Android',
      ' Chrome/1',
      ' Safari/1',
      '[FB',
      ' ',
      'Brave',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ unit: 'binary' }))), (parts) => {
        const visit = classify(parts.join(''));
        expect(['ios', 'android', 'desktop']).toContain(visit.device);
        expect(['safari', 'chrome', 'samsung_browser', 'other']).toContain(visit.browser);
      }),
    );
  });

  it('reads only the beginning of a very long user agent', () => {
    const safari = sample.find((one) => one.label === 'iPhone Safari 17')?.ua ?? '';
    expect(classify(`${safari} ${'App/1 '.repeat(3000)}`)).toEqual({ device: 'ios', browser: 'other', bot: false });
  });

  it('returns the same after cached entries are evicted', () => {
    const before = sample.map(({ ua }) => classify(ua));
    for (let n = 0; n < 10_000; n++) classify(`visitor/${n}`);
    expect(sample.map(({ ua }) => classify(ua))).toEqual(before);
  });
});
