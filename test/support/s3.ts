import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import S3rver from '@20minutes/s3rver';
import { settings } from '../../src/config/settings.ts';

export interface TestS3 {
  endpoint: string;
  bucket: string;
  stop(): Promise<void>;
}

/** Starts an S3 server with one bucket, and sets the settings of this process to it until it is stopped. */
export async function startS3(): Promise<TestS3> {
  const directory = mkdtempSync(join(tmpdir(), 'scanlog-s3-'));
  const bucket = 'scanlog-test';
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory,
    configureBuckets: [{ name: bucket, configs: [] }],
  });
  const { port } = await server.run();
  const endpoint = `http://127.0.0.1:${port}`;
  const given = {
    [settings.archiveS3Endpoint.variable]: endpoint,
    [settings.archiveS3AccessKeyId.variable]: 'S3RVER',
    [settings.archiveS3SecretAccessKey.variable]: 'S3RVER',
  };
  Object.assign(process.env, given);
  return {
    endpoint,
    bucket,
    async stop() {
      for (const variable of Object.keys(given)) delete process.env[variable];
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}
