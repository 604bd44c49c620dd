import { type Static, Type as t } from '@sinclair/typebox';
import { actorParts, ownActorPattern } from '../../../events/actor.ts';
import { type CodeDifference, differenceOf } from '../../../events/code-change.ts';
import { readTimestamp, timestampProblem } from '../../../events/timestamp.ts';
import { requireOwnKey } from '../../accounts/keys.ts';
import { maxRevertedCodes, type RevertedCode, revert } from '../../codes/revert.ts';
import { type FieldError, invalid, Refusal } from '../../lib/errors.ts';
import { LimitPerKey } from '../../lib/limit-per-key.ts';
import { timeouts } from '../../lib/timeouts.ts';
import { requireOwnPerson } from '../../people/members.ts';
import { type Operation, operation } from '../http/operation.ts';
import { exact } from '../http/schemas.ts';
import type { Service } from '../service.ts';

const timestamp = (description: string) =>
  t.String({
    description,
    examples: ['2026-05-03T12:00:00Z'],
    'x-expected': 'a timestamp such as 2026-05-03T12:00:00Z',
  });

export const RevertRequest = t.Object(
  {
    actor: t.String({
      pattern: ownActorPattern,
      description:
        'Id of the key (`key_…`) or person (`usr_…`) whose changes are undone, as `key_id` in the history; also of a revoked key or a former member. Changes in the console are made by the person who signed in, or by the key of the session. What the MCP clients of a key changed is undone, too; `key_…/claude-code` undoes only what that client changed.',
      examples: ['key_0VMNcq2hE3kx0dTtWq8LbY'],
      'x-expected': 'the id of a key, key_…, a client of it, key_…/claude-code, or the id of a person, usr_…',
    }),
    from: timestamp('Changes since this time are undone.'),
    to: t.Optional(timestamp('Changes until this time are undone. Default: now.')),
    dry_run: t.Optional(
      t.Boolean({ default: false, description: 'true computes the same response and changes nothing.' }),
    ),
  },
  {
    ...exact,
    examples: [{ actor: 'key_0VMNcq2hE3kx0dTtWq8LbY', from: '2026-05-03T12:00:00Z', dry_run: true }],
  },
);

export const RevertResponse = t.Object(
  {
    changes: t.Array(
      t.Object(
        {
          qr_id: t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
          name: t.String({ description: 'Name of the code before the revert.', examples: ['Spring menu'] }),
          field: t.String({
            description: 'As in the history of the code: a field, or `schedule`, `query` for several.',
            examples: ['destination_url'],
          }),
          from: t.Unknown({ description: 'Value before the revert.', examples: ['https://evil.example'] }),
          to: t.Unknown({ description: 'Value after the revert.', examples: ['https://example.com/menu'] }),
        },
        exact,
      ),
      { description: 'What the revert changes, newest code first.' },
    ),
    skipped: t.Array(
      t.Object(
        {
          qr_id: t.String({ examples: ['qr_0VMNcq2hE3kx0dTtWq8LbY'] }),
          reason: t.String({
            examples: ['It was deleted in this period, and a deleted code cannot be brought back.'],
          }),
        },
        exact,
      ),
      { description: 'What stays as it is, and why, in sentences for people.' },
    ),
  },
  exact,
);

/** Each reads and writes thousands of codes, also after its client has left. */
const maxRunning = 1;

const revertRunning = () =>
  new Refusal('conflict', 'Another revert of the account is running: try again when it has ended.', undefined, {
    'retry-after': '5',
  });

export const revertOperation = ({ sql, clock, addresses, onChange }: Service): Operation => {
  const accounts = new LimitPerKey(maxRunning, revertRunning);
  return operation({
    operationId: 'revertChanges',
    method: 'POST',
    path: '/v1/account/revert',
    tag: 'Account',
    summary: 'Undo what a key or a person did',
    description: [
      'Undoes every change that a key or a person made to codes in a period: of a leaked key, or of a script gone wrong. Revoke a leaked key first. Send `dry_run` to see what would change.',
      'Each field gets the value from before the changes of the key. A field that another key changed later keeps its value, and so does one whose earlier value is invalid now, such as a URL on a host that was blocked since; `skipped` lists these. A code that the key paused is resumed. A code that it created, resumed or published is paused, not deleted, since a deletion could not be undone: delete it yourself if you do not want it. A code that it deleted cannot be brought back.',
      `Codes of the mode of the key of the request, at most ${maxRevertedCodes}; if the key changed more of them, 400. A second revert of the same period changes nothing. A revert of many codes is stored in steps: if an error ends it, or its response would be longer than 4 MiB, the message says how far it got, and the same request continues it. An account can have one revert running at an instance; a further one answers 409.`,
    ].join('\n\n'),
    body: RevertRequest,
    success: { status: 200, description: 'What changed, or would change.', schema: RevertResponse },
    errors: ['invalid_request', 'not_found', 'conflict'],
    answerWithinMs: timeouts.revertMs,
    async handle({ caller, body, signal }) {
      const now = clock();
      const period = readPeriod(body, now);
      const { id } = actorParts(body.actor);
      if (id.startsWith('usr_')) await requireOwnPerson(sql, caller.account, id);
      else await requireOwnKey(sql, caller, id);
      const request = {
        ...period,
        actor: body.actor,
        isDryRun: body.dry_run ?? false,
        signal,
        ownUrls: addresses.ownUrls,
        onRecorded: onChange,
      };
      const by = { actor: caller.actor, now };
      const response = new LongResponse();
      const onReverted = (codes: RevertedCode[]) => {
        response.add(codes);
        if (request.isDryRun && response.isFull) throw tooLong();
        return !response.isFull;
      };
      await accounts.run(caller.account, () => revert(sql, caller, { ...request, onReverted }, by));
      return { status: 200, body: response.text() };
    },
  });
};

type Response = Static<typeof RevertResponse>;

/** A change of rules can have 260 kB. */
const maxCharacters = 4 * 1024 * 1024;

/** The text of the response. It is written with each step of the revert, since all of it at once would take the event loop for long. */
class LongResponse {
  readonly #changes: string[] = [];
  readonly #skipped: string[] = [];
  #characters = 0;

  get isFull(): boolean {
    return this.#characters > maxCharacters;
  }

  add(codes: RevertedCode[]): void {
    const changes = codes.flatMap(({ code: { id, name }, events }): Response['changes'] =>
      events.map((event) => ({ qr_id: id, name, ...fieldChange(differenceOf(event)) })),
    );
    const skipped = codes.flatMap(({ code: { id }, skipped }): Response['skipped'] =>
      skipped.map((reason) => ({ qr_id: id, reason })),
    );
    this.#characters += addTo(this.#changes, changes) + addTo(this.#skipped, skipped);
  }

  text(): string {
    return `{"changes":[${this.#changes.join()}],"skipped":[${this.#skipped.join()}]}`;
  }
}

function addTo(texts: string[], items: object[]): number {
  if (items.length === 0) return 0;
  const text = JSON.stringify(items).slice(1, -1);
  texts.push(text);
  return text.length;
}

const fieldChange = ({ field, from, to }: CodeDifference) => ({ field: field ?? '', from, to });

const tooLong = () =>
  invalid([
    {
      field: 'from',
      message:
        'What the revert changes is too long for one response, which has at most 4 MiB: choose a shorter period with from and to, the newest first.',
    },
  ]);

function readPeriod({ from, to }: Static<typeof RevertRequest>, now: Date): { from: Date; to: Date } {
  const errors: FieldError[] = [];
  const read = (field: 'from' | 'to', text: string) => {
    const time = readTimestamp(text);
    if (time === undefined) errors.push({ field, message: `${field} ${timestampProblem}.` });
    return time ?? now;
  };
  const period = { from: read('from', from), to: to === undefined ? now : read('to', to) };
  if (errors.length === 0 && period.from > period.to)
    errors.push({
      field: 'from',
      message: to === undefined ? 'from must not be in the future.' : 'from must not be after to.',
    });
  const [first, ...more] = errors;
  if (first !== undefined) throw invalid([first, ...more]);
  return period;
}
