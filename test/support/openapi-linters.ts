import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { oas } from '@stoplight/spectral-rulesets';

/** What `spectral lint` reports with the ruleset `spectral:oas`: one line each, errors, warnings and hints alike. */
export async function spectralFindings(document: object): Promise<string[]> {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [oas as RulesetDefinition] });
  const findings = await spectral.run(JSON.stringify(withoutRepeats(document)));
  return findings.map(({ code, path, message }) => `${code} at ${path.join('/')}: ${message}`);
}

/**
 * Leaves out an example that was seen with the same schema before: 9 of 10 are examples of errors, and Spectral takes half of
 * its time to compare each with its schema.
 */
function withoutRepeats(document: object): object {
  const seen = new Set<string>();
  return JSON.parse(JSON.stringify(document), (_, part) => {
    if (typeof part !== 'object' || part?.schema === undefined) return part;
    const text = JSON.stringify(part);
    if (!seen.has(text)) {
      seen.add(text);
      return part;
    }
    const { example: _example, examples: _examples, ...rest } = part;
    return rest;
  });
}

interface RedoclyReport {
  problems: { ruleId: string; message: string; location: { pointer: string }[] }[];
}

/** What `redocly lint` reports with its recommended rules: one line each, errors and warnings alike. */
export async function redoclyFindings(document: object): Promise<string[]> {
  const cli = createRequire(import.meta.url).resolve('@redocly/cli/bin/cli.js');
  // Its own folder: a redocly.yaml of the current one would be read.
  const folder = mkdtempSync(join(tmpdir(), 'scanlog-redocly-'));
  try {
    writeFileSync(join(folder, 'openapi.json'), JSON.stringify(document));
    const command = ['lint', '--extends', 'recommended', '--format', 'json', '--max-problems', '1000', 'openapi.json'];
    const linter = Bun.spawn([process.execPath, cli, ...command], {
      cwd: folder,
      // Without these it reports its use to its vendor and asks the registry for a newer version.
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
      stderr: 'pipe',
    });
    const [output, messages] = await Promise.all([
      new Response(linter.stdout).text(),
      new Response(linter.stderr).text(),
      linter.exited,
    ]);
    if (!output.startsWith('{')) throw new Error(`redocly lint did not run: ${messages}`);
    const { problems } = JSON.parse(output) as RedoclyReport;
    return problems.map(({ ruleId, location, message }) => `${ruleId} at ${location[0]?.pointer}: ${message}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
