import { useState } from 'preact/hooks';
import { api } from '../api.ts';
import { date, displayUrl } from '../format.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';
import { Empty, Loading } from '../parts/states.tsx';
import { toast } from '../parts/toast.tsx';
import { useResource } from '../resource.ts';
import { pageUrl, setQuery, useRoute } from '../router.ts';
import type { OperatorCode } from '../types.ts';
import { type Listed, Pages, ReasonDialog, Search, useListQuery } from './parts.tsx';

/** Codes of all accounts by short link or destination; without a search, those that are taken down. */
export function Codes() {
  const { search, after } = useListQuery();
  const everywhere = useRoute().query.get('everywhere') || undefined;
  const { data, error, reload } = useResource<Listed<OperatorCode>>('/operator/codes', {
    query: { search, after, everywhere },
  });
  const [open, setOpen] = useState<OperatorCode>();
  const close = () => setOpen(undefined);
  return (
    <section aria-label="Codes">
      <div class="row gap-m toolbar">
        <Search label="Search codes of all accounts" placeholder="Short link, short code, ID or destination" />
        <label class="row nowrap check">
          <input
            type="checkbox"
            checked={everywhere !== undefined}
            onChange={(e) => setQuery({ everywhere: e.currentTarget.checked ? 'true' : undefined, after: undefined })}
          />
          <span>
            Also rules and fallbacks<span class="hint">Slow: compares every code.</span>
          </span>
        </label>
      </div>
      {search === undefined && <p class="hint">Codes that are taken down:</p>}
      {data === undefined || error?.isTransient === false ? (
        <Loading error={error} retry={reload} />
      ) : data.data.length === 0 ? (
        <Empty title={search === undefined ? 'No code is taken down' : 'No matching codes'} />
      ) : (
        <ul class="card lines">
          {data.data.map((code) => (
            <CodeItem key={code.id} code={code} onOpen={() => setOpen(code)} />
          ))}
        </ul>
      )}
      {data !== undefined && <Pages next={data.next} />}
      {open !== undefined && <TakedownDialog code={open} reload={reload} onClose={close} />}
    </section>
  );
}

const CodeItem = ({ code, onOpen }: { code: OperatorCode; onOpen(): void }) => (
  <li class="row between gap-l">
    <div class="wrapped">
      <strong dir="auto">{code.name}</strong> {code.mode === 'test' && <span class="badge test">Test</span>}{' '}
      {code.disabled !== null && <span class="badge failed">Taken down</span>}
      <p class="hint">
        {displayUrl(code.short_url)} → {code.destination_url}
      </p>
      <p class="hint">
        <a href={pageUrl(`/operator/accounts/${code.account.id}`)}>{code.account.name}</a>
        {code.account.is_suspended && ' (suspended)'} · created {date(code.created_at)}
        {code.disabled !== null && ` · ${code.disabled.reason}`}
      </p>
    </div>
    <button
      type="button"
      class={code.disabled === null ? 'button danger' : 'button'}
      aria-label={`${code.disabled === null ? 'Take down' : 'Put back'} ${code.name}`}
      onClick={onOpen}
    >
      {code.disabled === null ? 'Take down' : 'Put back'}
    </button>
  </li>
);

function TakedownDialog({ code, reload, onClose }: { code: OperatorCode; reload(): Promise<void>; onClose(): void }) {
  const path = `/operator/codes/${code.id}/takedown`;
  const done = async (text: string) => {
    await reload();
    toast(text);
    onClose();
  };
  if (code.disabled !== null)
    return (
      <ConfirmDialog
        title={`Put ${code.name} back?`}
        label="Put back"
        onConfirm={async () => {
          await api.delete(path);
          await done('Code put back.');
        }}
        onClose={onClose}
      >
        <p>{displayUrl(code.short_url)} leads to its destination again.</p>
      </ConfirmDialog>
    );
  return (
    <ReasonDialog
      title={`Take ${code.name} down?`}
      label="Take down"
      onConfirm={async (reason) => {
        await api.post(path, { reason });
        await done('Code taken down.');
      }}
      onClose={onClose}
    >
      <p>{displayUrl(code.short_url)} no longer leads anywhere. Its owner cannot undo it.</p>
    </ReasonDialog>
  );
}
