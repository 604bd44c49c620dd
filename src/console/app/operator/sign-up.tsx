import { useResource } from '../resource.ts';

const texts = {
  closed: 'No one can join: neither by an invitation nor by themselves.',
  invite: 'Owners of accounts invite people. No one else can join.',
  open: 'Everyone can sign up, and gets an account.',
} as const;

/** Who can get a user, which only the setting SIGNUP changes. */
export function SignUp() {
  const { data } = useResource<{ sign_up: keyof typeof texts; plan: string }>('/operator/sign-up');
  if (data === undefined) return null;
  return (
    <p class="hint">
      Sign-up is <strong>{data.sign_up}</strong>. {texts[data.sign_up]}
      {data.sign_up === 'open' && ` It is on the ${data.plan} plan.`} The setting <code>SIGNUP</code> changes it.
    </p>
  );
}
