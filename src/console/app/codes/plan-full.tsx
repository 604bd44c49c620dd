import { number } from '../format.ts';
import { Icon } from '../icons.tsx';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import { currentMode, pageUrl } from '../router.ts';
import type { Account } from '../types.ts';

const refreshIntervalMs = 15_000;

/** How many codes the plan has, allows, and still allows; `left` is infinite in test mode and without a limit. */
export interface PlanUsage {
  plan: string;
  used: number;
  limit: number;
  left: number;
}

/** Undefined while it is loading, and with a key that may not read it. */
export function usePlanUsage(): PlanUsage | undefined {
  const { data } = useResource<Account>(may('account.read') ? '/account' : undefined, { refreshIntervalMs });
  if (data === undefined) return undefined;
  const limit = currentMode() === 'test' ? null : data.limits.qr_codes;
  const used = data.usage.qr_codes ?? 0;
  const allowed = limit ?? Number.POSITIVE_INFINITY;
  return { plan: data.plan, used, limit: allowed, left: Math.max(0, allowed - used) };
}

/** Says that the plan is full, before the user fills in a form that would be refused. */
export function PlanFull({ usage }: { usage: PlanUsage | undefined }) {
  if (usage === undefined || usage.left > 0) return null;
  return (
    <p class="row nowrap verdict bad plan-full" role="status">
      <Icon name="warning" />
      <span>
        <strong>Your plan is full.</strong> {number(usage.used)} of {number(usage.limit)} codes of the {usage.plan} plan
        are in use, drafts and paused codes included. <a href={pageUrl('/')}>Delete codes</a> that you no longer need,
        or ask the operator of this service for a larger plan. Test codes do not count.
      </span>
    </p>
  );
}
