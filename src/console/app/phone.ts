/** The script of the page that a scanned code opens: shows the account of the link, and lets the user confirm. */

const elementOf = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

const showProblem = (text: string) => {
  const problem = elementOf('problem');
  problem.textContent = text;
  problem.hidden = false;
};

async function showConfirmation(token: string): Promise<void> {
  const response = await fetch('/console/phone/check', { method: 'POST', body: new URLSearchParams({ token }) });
  const body = await response.json();
  if (!response.ok) return showProblem(body.error.message);
  elementOf('account').textContent = body.account;
  elementOf('modes').textContent =
    body.modes.length === 2 ? 'Live and test mode' : body.modes[0] === 'live' ? 'Live mode' : 'Test mode';
  elementOf<HTMLInputElement>('token').value = token;
  elementOf('problem').hidden = true;
  elementOf('confirm').hidden = false;
}

const token = location.hash.slice(1);
// The token stays out of the history and of a copied address.
history.replaceState(null, '', location.pathname);
const problem = elementOf('problem');
if (token !== '')
  showConfirmation(token).catch(() => showProblem('Cannot reach the service. Check your connection and scan again.'));
else problem.hidden = false;
