import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { classify } from '../../src/edge/device.ts';
import { bots } from './bot-user-agents.ts';
import { people } from './people-user-agents.ts';
import sample from './ua-cases.json';

describe('what scanned', () => {
  it.each(sample)('given the sample "$label"', ({ ua, device, browser, bot }) => {
    expect(classify(ua)).toEqual({ device, browser, bot });
  });

  it.each(people)('given a person with %s, is %s', (_, expected, ua) => {
    const { device, browser, bot } = classify(ua);
    expect(`${device} ${browser}${bot ? ' bot' : ''}`).toBe(expected);
  });

  it.each(bots)('given the program %j, is none of the devices and browsers it pretends to be', (ua) => {
    expect(classify(ua)).toEqual({ device: 'desktop', browser: 'other', bot: true });
  });

  it('given whatever somebody sends, is one of the known values', () => {
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

  it('given a user agent of many kilobytes, is read from its beginning', () => {
    const safari = sample.find((one) => one.label === 'iPhone Safari 17')?.ua ?? '';
    expect(classify(`${safari} ${'App/1 '.repeat(3000)}`)).toEqual({ device: 'ios', browser: 'other', bot: false });
  });

  it('given more user agents than are remembered, is the same as before', () => {
    const before = sample.map(({ ua }) => classify(ua));
    for (let n = 0; n < 10_000; n++) classify(`visitor/${n}`);
    expect(sample.map(({ ua }) => classify(ua))).toEqual(before);
  });
});
