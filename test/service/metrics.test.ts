import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { serveMetrics } from '../../src/service/http-server.ts';

const config = { ...readConfig({ METRICS_PORT: '0' }), databaseUrl: '', natsUrl: '', clickhouseUrl: '', secretKey: '' };

/** Sends these bytes, and returns everything received until the connection closes. */
function answerTo(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (chunk) => {
      text += chunk;
    });
    socket.on('close', () => resolve(text));
    socket.on('error', reject);
  });
}

test.each([
  ['no Host', 'GET /metrics HTTP/1.0\r\n\r\n', /^HTTP\/1\.[01] 200/],
  ['an invalid Host', 'GET /metrics HTTP/1.1\r\nHost: a b%zz\r\nConnection: close\r\n\r\n', /^HTTP\/1\.[01] [24]\d\d/],
  ['no path', 'GET ?x HTTP/1.0\r\n\r\n', /^(HTTP\/1\.[01] 4\d\d|$)/],
])('the response to a request with %s reveals no source code', async (_, bytes, expected) => {
  const server = serveMetrics(config, async () => [], createLogger('silent', false));
  const response = await answerTo(server.port ?? 0, bytes);
  await server.stop(true);
  expect(response).toMatch(expected);
  expect(response).not.toMatch(/server\.ts|serveMetrics|<html|bun/i);
});

test('an error while metrics are collected is answered with 500 and one sentence', async () => {
  const fail = async () => {
    throw new Error('inside');
  };
  const server = serveMetrics(config, fail, createLogger('silent', false));
  const response = await fetch(`http://127.0.0.1:${server.port}/metrics`);
  const text = await response.text();
  await server.stop(true);
  expect([response.status, text]).toEqual([500, 'Metrics could not be collected: see the log of the service.']);
});
