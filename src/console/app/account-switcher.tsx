import { Icon } from './icons.tsx';
import { Menu } from './parts/menu.tsx';
import { roleTexts } from './roles.ts';
import { bootstrap } from './welcome.ts';

/** Moves the session to another account of the person. The page is loaded again: all of it belongs to one account. */
export function switchAccount(id: string): void {
  const form = document.createElement('form');
  form.method = 'post';
  form.action = '/console/switch';
  form.hidden = true;
  const field = document.createElement('input');
  field.name = 'account';
  field.value = id;
  form.append(field);
  document.body.append(form);
  form.submit();
}

/** For people with several accounts: which one the page shows, and the others. */
export function AccountSwitcher() {
  const { account, accounts } = bootstrap;
  if (accounts.length < 2) return null;
  return (
    <Menu
      label={`Switch account, now ${account.name}`}
      buttonClass="button quiet"
      button={
        <>
          <span class="clip account-name" dir="auto">
            {account.name}
          </span>
          <Icon name="expand" />
        </>
      }
    >
      <nav aria-label="Accounts">
        {accounts.map(({ id, name, role }) => (
          <button
            key={id}
            type="button"
            class="button"
            aria-current={id === account.id ? 'true' : undefined}
            onClick={() => {
              if (id !== account.id) switchAccount(id);
            }}
          >
            <span class="clip" dir="auto">
              {name}
            </span>
            <span class="hint">{roleTexts[role].name}</span>
            {id === account.id && <Icon name="check" />}
          </button>
        ))}
      </nav>
    </Menu>
  );
}
