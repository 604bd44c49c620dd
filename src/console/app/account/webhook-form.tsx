import { useState } from 'preact/hooks';
import { completeUrl } from '../codes/destination.ts';
import { Picker } from '../parts/choices.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { Field } from '../parts/field.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { TagsField } from '../parts/tags-field.tsx';
import { useAction } from '../parts/use-action.ts';
import { may } from '../permissions.tsx';
import { useResource } from '../resource.ts';
import type { ListedQrCode, NewSubscription, Page, Subscription } from '../types.ts';
import { eventTypes } from './webhook-events.ts';

type Settings = Required<Omit<NewSubscription, 'active'>>;

interface Props {
  /** The settings to change; undefined for a new webhook. */
  webhook?: Subscription;
  submitLabel: string;
  onSubmit(settings: Settings): Promise<void>;
}

const initial = { url: '', description: '', events: eventTypes.map(([type]) => type), qr_ids: null, tags: null };

/** URL, description, types of events, and filters of a webhook. */
export function WebhookForm({ webhook, submitLabel, onSubmit }: Props) {
  const [settings, setSettings] = useState<Settings>(() => {
    const { url, description, events, qr_ids, tags } = webhook ?? initial;
    return { url, description, events: [...events], qr_ids, tags };
  });
  const set = (change: Partial<Settings>) => setSettings((before) => ({ ...before, ...change }));
  const { busy, errors, run } = useAction(['url', 'description', 'events', 'qr_ids', 'tags']);
  const [withoutEvents, setWithoutEvents] = useState(false);
  const submit = () => {
    setWithoutEvents(settings.events.length === 0);
    if (settings.events.length === 0) return;
    run(() => onSubmit({ ...settings, url: completeUrl(settings.url).url }));
  };
  return (
    <Form onSubmit={submit}>
      <Field
        label="URL"
        inputMode="url"
        isCode
        value={settings.url}
        onValue={(url) => set({ url })}
        error={errors['url']?.replace(/^url /, 'The URL ')}
        placeholder="https://example.com/hooks/events"
        hint="Receives a POST request for every event, signed as the Standard Webhooks specification defines."
      />
      <Field
        label="Description"
        value={settings.description}
        onValue={(description) => set({ description })}
        error={errorAt(errors, 'description')}
        placeholder="Optional"
        maxLength={255}
      />
      <EventsField events={settings.events} onEvents={(events) => set({ events })} isMissing={withoutEvents} />
      <CodesField
        ids={settings.qr_ids ?? []}
        onIds={(ids) => set({ qr_ids: ids.length === 0 ? null : ids })}
        error={errorAt(errors, 'qr_ids')}
      />
      <TagsField
        label="Only codes with these tags"
        tags={settings.tags ?? []}
        onTags={(tags) => set({ tags: tags.length === 0 ? null : tags })}
        error={errorAt(errors, 'tags')}
        hint="A code needs one of them. Empty: all codes."
      />
      <div class="row actions">
        <button type="submit" class="button primary" disabled={busy || settings.url.trim() === ''}>
          {submitLabel}
        </button>
      </div>
    </Form>
  );
}

interface EventsProps {
  events: Settings['events'];
  onEvents(events: Settings['events']): void;
  isMissing: boolean;
}

function EventsField({ events, onEvents, isMissing }: EventsProps) {
  return (
    <fieldset class="stack gap-s event-types">
      <legend>Events</legend>
      {eventTypes.map(([type, text]) => (
        <label key={type} class="row nowrap check">
          <input
            type="checkbox"
            checked={events.includes(type)}
            onChange={(event) =>
              onEvents(
                event.currentTarget.checked
                  ? eventTypes.map(([one]) => one).filter((one) => one === type || events.includes(one))
                  : events.filter((one) => one !== type),
              )
            }
          />
          <span>
            {text} <code>{type}</code>
          </span>
        </label>
      ))}
      <ErrorText id="events-error">
        {isMissing && events.length === 0 ? 'Choose at least one event.' : undefined}
      </ErrorText>
    </fieldset>
  );
}

interface CodesProps {
  ids: string[];
  onIds(ids: string[]): void;
  error: string | undefined;
}

/** The newest codes to choose from; those that are chosen already stay, whatever their age. */
function CodesField({ ids, onIds, error }: CodesProps) {
  const codes =
    useResource<Page<ListedQrCode>>(may('codes.read') ? '/qrcodes' : undefined, { query: { limit: 100 } }).data?.data ??
    [];
  const names = new Map(codes.map(({ id, name }) => [id, name]));
  return (
    <div class="stack gap-xs field">
      <span class="label">Only these codes</span>
      <Picker
        label="Add code"
        values={ids}
        onValues={onIds}
        choices={codes.map(({ id, name }) => [id, name])}
        nameOf={(id) => names.get(id) ?? id}
        isInvalid={error !== undefined}
      />
      <ErrorText id="codes-error">{error}</ErrorText>
      <div class="hint">Empty: all codes.</div>
    </div>
  );
}
