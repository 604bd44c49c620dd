import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The numbered examples of a document, by their heading. The first block of the document comes before each of them. */
export function examplesIn(path: string): Map<string, string> {
  const [before = '', ...sections] = readFileSync(path, 'utf8').split(/^## (?=\d+\. )/m);
  const blockOf = (text: string) => /^```ts\n([\s\S]*?)^```$/m.exec(text)?.[1] ?? '';
  return new Map(sections.map((text) => [text.split('\n', 1)[0] as string, `${blockOf(before)}${blockOf(text)}`]));
}

/** Imports each example, prints its heading before, and sends the requests of `SIGNED` to the server that one starts. */
const runner = `
import { once } from 'node:events';
for (const [i, name] of JSON.parse(process.env.EXAMPLES).entries()) {
  console.log('## ' + name);
  const { server } = await import('./' + i + '.js');
  if (server === undefined) continue;
  if (!server.listening) await once(server, 'listening');
  const url = 'http://127.0.0.1:' + server.address().port;
  for (const request of JSON.parse(process.env.SIGNED)) {
    const response = await fetch(url, { method: 'POST', ...request });
    console.log('answered', response.status, await response.text());
  }
  server.close();
  server.closeAllConnections();
}
`;

/** Writes the examples as JavaScript, and `run.js`, which runs them. */
export async function writeExamples(folder: string, examples: Map<string, string>): Promise<void> {
  const transpiler = new Bun.Transpiler({ loader: 'ts' });
  for (const [i, code] of [...examples.values()].entries()) {
    const exported = /^const server\b/m.test(code) ? 'export { server };\n' : 'export {};\n';
    await Bun.write(join(folder, `${i}.js`), `${transpiler.transformSync(code)}${exported}`);
  }
  await Bun.write(join(folder, 'run.js'), runner);
}
