/** The script of the page that signs in with a passkey. */
import { askPasskey, hasPasskeys, passkeyProblem } from './webauthn.ts';

const elementOf = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

const showProblem = (text: string) => {
  const problem = elementOf('problem');
  problem.textContent = text;
  problem.hidden = false;
};

const form = elementOf<HTMLFormElement>('passkey');
form.addEventListener('submit', (event) => {
  event.preventDefault();
  if (!hasPasskeys()) return showProblem('This browser has no passkeys.');
  askPasskey()
    .then(({ step, response }) => {
      elementOf<HTMLInputElement>('step').value = step;
      elementOf<HTMLInputElement>('response').value = response;
      form.submit();
    })
    .catch((error) => showProblem(passkeyProblem(error)));
});
