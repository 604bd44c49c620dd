import { StartError } from '../lib/errors.ts';
import { listOperatorActions, type OperatorAction } from '../operator/audit.ts';
import { withDatabase } from './connection.ts';
import { print, printJson, table } from './terminal.ts';

/** Prints a page of what operators did, by the console and by commands. */
export async function audit({ data, json, before }: { data: string; json?: boolean; before?: string }): Promise<void> {
  if (before !== undefined && !/^\d{1,15}$/.test(before))
    throw new StartError(`--before must be a position, such as the first column of the list, not ${before}.`);
  const page = await withDatabase(data, (sql) =>
    listOperatorActions(sql, { before: before === undefined ? undefined : Number(before), actor: undefined }),
  );
  if (json) return printJson(page);
  if (page.data.length === 0) return void print('Operators have changed nothing.');
  print(table([['POSITION', 'TIME', 'BY', 'WHAT', 'OF', 'DETAIL'], ...page.data.map(lineOf)]));
  if (page.next !== null) print(`\nThere are more: ./scanlog audit --before ${page.next}`);
}

const lineOf = ({ position, occurred_at, actor, actor_name, type, subject, detail }: OperatorAction): string[] => [
  ...[String(position), occurred_at.toISOString(), actor_name ?? actor, type],
  ...[subject.name ?? subject.id, detail ?? ''],
];
