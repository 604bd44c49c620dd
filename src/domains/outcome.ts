import { type Account, type AccountEvent, removeDomain } from '../../events/account.ts';
import { checkDomain, type Domain, type DomainProblem, evolveDomain, isDomainEvent } from '../../events/domain.ts';
import { type Recorded, service } from '../../events/recorded.ts';
import { writeState } from '../../projections/state.ts';
import { Refusal } from '../lib/errors.ts';
import type { Queryable, Sql, Transaction } from '../lib/sql.ts';
import { appendAndCommit, prepare } from '../log/append.ts';
import { violates } from '../log/connect.ts';
import { retryLostRace } from '../log/decide.ts';
import type { By } from './commands.ts';
import type { ProofResult } from './proof.ts';
import { type DueDomain, firstCheckAt, nextCheckAt, requestCheck } from './schedule.ts';

/** Another account has the domain, and still proves that. */
export class StillTaken extends Refusal {
  constructor(name: string) {
    super(
      'domain_taken',
      `Your proof is complete, but another account uses ${name}, and its proof is still there, too: remove its TXT record. It is checked now, so try again in a minute.`,
    );
  }
}

const takenProblem = (name: string): DomainProblem => ({
  check: 'claim',
  expected: `No other account uses ${name}.`,
  found: `Another account uses ${name}, and its proof is still there: remove its TXT record.`,
});

/**
 * Stores the result of a check, and appends what it changes: a proved claim makes the domain active and ends the claim of another
 * account whose proof is gone. An active domain whose DNS does not answer fails at the second check by the service in a row.
 * Throws `StillTaken` if another account has the domain. A domain that was removed meanwhile, or
 * claimed with another token, stays as it is.
 */
export async function recordCheck(
  sql: Sql,
  checked: DueDomain,
  result: ProofResult,
  by: By,
): Promise<Recorded<AccountEvent>[]> {
  try {
    return await retryLostRace(() => attemptOnce(sql, checked, result, by));
  } catch (error) {
    if (!(error instanceof StillTaken)) throw error;
    await noteTaken(sql, checked, by.now);
    throw error;
  }
}

async function attemptOnce(
  sql: Sql,
  checked: DueDomain,
  { problems, isConclusive }: ProofResult,
  by: By,
): Promise<Recorded<AccountEvent>[]> {
  const loaded = await load(sql, checked);
  if (loaded === undefined) return [];
  const isFirstDoubt = !isConclusive && loaded.domain.status === 'active' && !loaded.hadProblems;
  if (isFirstDoubt && by.actor === service) {
    // A resolver that is down for a while must not make all domains fail.
    await storeCheck(sql, loaded.domain, problems, by.now, firstCheckAt(by.now));
    return [];
  }
  const plans = decide(loaded, problems);
  if (plans.length === 0) {
    await storeCheck(sql, loaded.domain, problems, by.now);
    return [];
  }
  try {
    return await sql.begin((tx) => store(tx, loaded, plans, { problems, by }));
  } catch (error) {
    throw violates(error, 'domains_serving') ? new StillTaken(checked.name) : error;
  }
}

interface Held {
  account: Account;
  domain: Domain;
}

interface Loaded extends Held {
  /** The domain of another account that redirects under the same name. */
  holder: Held | undefined;
  /** Whether the check before has found problems. */
  hadProblems: boolean;
}

/** Reads accounts and domains in one snapshot, so that the versions belong to what is decided on. */
const load = (sql: Sql, { id, name, token }: DueDomain): Promise<Loaded | undefined> =>
  sql.begin('ISOLATION LEVEL REPEATABLE READ READ ONLY', async (tx) => {
    const domains = await tx<Domain[]>`
      SELECT * FROM domains
      WHERE name = ${name} AND (status IN ('active', 'failing') OR (id = ${id} AND status = 'pending'))`;
    const accounts = await tx<Account[]>`
      SELECT * FROM accounts WHERE id = ANY(${domains.map(({ account }) => account)})`;
    const held = domains.flatMap((domain): Held[] =>
      accounts.filter((account) => account.id === domain.account).map((account) => ({ account, domain })),
    );
    const own = held.find(({ domain }) => domain.id === id && domain.token === token);
    const [before] = await tx<{ problems: DomainProblem[] }[]>`SELECT problems FROM domain_checks WHERE domain = ${id}`;
    const hadProblems = before !== undefined && before.problems.length > 0;
    return own && { ...own, holder: held.find(({ domain }) => domain.id !== id), hadProblems };
  });

/** The events of one account. */
interface Plan {
  account: Account;
  events: AccountEvent[];
}

function decide({ account, domain, holder }: Loaded, problems: DomainProblem[]): Plan[] {
  const events = checkDomain(domain, problems);
  if (events.length === 0) return [];
  if (domain.status !== 'pending' || holder === undefined) return [{ account, events }];
  if (holder.domain.status === 'active') throw new StillTaken(domain.name);
  return [
    { account: holder.account, events: removeDomain(holder.account, holder.domain, 'claimed') },
    { account, events },
  ];
}

interface Outcome {
  problems: DomainProblem[];
  by: By;
}

async function store(
  tx: Transaction,
  { domain, holder }: Loaded,
  plans: Plan[],
  { problems, by }: Outcome,
): Promise<Recorded<AccountEvent>[]> {
  const pending = prepare<AccountEvent>(
    plans.flatMap(({ account, events }) =>
      events.map((event, i) => ({ stream: account.id, version: account.version + 1 + i, event })),
    ),
    by,
  );
  // Rows are locked in this order, also when two accounts take domains from each other.
  const accounts = plans.map(({ account }) => account).toSorted((a, b) => (a.id < b.id ? -1 : 1));
  const domains = [domain, ...(holder === undefined ? [] : [holder.domain])];
  await writeState(tx, { accounts, domains }, pending);
  const after = pending.filter(isDomainEvent).filter((event) => event.data.domain === domain.id);
  await storeCheck(tx, after.reduce<Domain>(evolveDomain, domain), problems, by.now);
  if (holder !== undefined && plans.length > 1) await tx`DELETE FROM domain_checks WHERE domain = ${holder.domain.id}`;
  return appendAndCommit(tx, pending);
}

/** Stores the result of a check, and when the next one is due. */
const storeCheck = (
  sql: Queryable,
  domain: Domain,
  problems: DomainProblem[],
  now: Date,
  next = nextCheckAt(domain, now),
): Promise<unknown> => sql`
  INSERT INTO domain_checks (domain, account, checked_at, problems, next_at)
  SELECT id, account, ${now}, ${sql.json(problems.map((problem) => ({ ...problem })))}, ${next}
  FROM domains WHERE id = ${domain.id} AND status <> 'removed'
  ON CONFLICT (domain) DO UPDATE SET
    checked_at = excluded.checked_at, problems = excluded.problems, next_at = excluded.next_at`;

/** The claim stays pending and says why; the proof of the account that has the domain is checked soon. */
async function noteTaken(sql: Sql, { id, name }: DueDomain, now: Date): Promise<void> {
  const [domain] = await sql<Domain[]>`SELECT * FROM domains WHERE id = ${id}`;
  if (domain === undefined) return;
  await storeCheck(sql, domain, [takenProblem(name)], now);
  await requestCheck(sql, name, now);
}
