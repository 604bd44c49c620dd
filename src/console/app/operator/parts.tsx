import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { relativeTime, time } from '../format.ts';
import { Icon } from '../icons.tsx';
import { Dialog, DialogActions } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { useAction } from '../parts/use-action.ts';
import { setQuery, urlWith, useRoute } from '../router.ts';

/** A page of a list of the operator's console. */
export interface Listed<T> {
  data: T[];
  next: string | null;
}

/** The search and the position of a list, which the URL has. */
export function useListQuery() {
  const { query } = useRoute();
  return { search: query.get('q') || undefined, after: query.get('after') || undefined };
}

/** A search that is sent when it is complete: some compare every row. */
export function Search({ label, placeholder }: { label: string; placeholder: string }) {
  const { search = '' } = useListQuery();
  const [text, setText] = useState(search);
  useLayoutEffect(() => setText(search), [search]);
  return (
    <search class="find">
      <Form class="row nowrap" onSubmit={() => setQuery({ q: text.trim(), after: undefined })}>
        <div class="input search">
          <Icon name="search" />
          <input
            type="search"
            value={text}
            placeholder={placeholder}
            aria-label={label}
            maxLength={2_048}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="button">
          Search
        </button>
      </Form>
    </search>
  );
}

/** Links to the first and the next page; Back leads to the page before. */
export function Pages({ next }: { next: string | null }) {
  const { after } = useListQuery();
  if (next === null && after === undefined) return null;
  return (
    <nav class="row gap-m toolbar" aria-label="Pages">
      {after !== undefined && (
        <a class="button" href={urlWith({ after: undefined })}>
          First page
        </a>
      )}
      {next !== null && (
        <a class="button" href={urlWith({ after: next })}>
          Next page
          <Icon name="next" />
        </a>
      )}
    </nav>
  );
}

export const PastTime = ({ at }: { at: string }) => (
  <time dateTime={at} title={time(at)}>
    {relativeTime(at)}
  </time>
);

interface ReasonProps {
  title: string;
  label: string;
  /** What the action does. */
  children: ComponentChildren;
  onConfirm(reason: string): Promise<void>;
  onClose(): void;
}

/** Asks for the reason of a takedown or a suspension, which the owner reads. */
export function ReasonDialog({ title, label, children, onConfirm, onClose }: ReasonProps) {
  const [reason, setReason] = useState('');
  const { busy, errors, run } = useAction(['reason']);
  return (
    <Dialog title={title} onClose={onClose}>
      <Form onSubmit={() => run(() => onConfirm(reason))}>
        {children}
        <Field
          label="Reason"
          value={reason}
          onValue={setReason}
          error={errors['reason']}
          maxLength={200}
          hint="The owner reads it."
        />
        <DialogActions onCancel={onClose}>
          <button type="submit" class="button danger solid" disabled={busy || reason.trim() === ''}>
            {label}
          </button>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
