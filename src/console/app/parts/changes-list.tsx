import { labelOf } from '../code/versions.ts';
import { plural, time } from '../format.ts';
import { pageUrl } from '../router.ts';
import { Scroll } from './scroll.tsx';

interface CodeChanges {
  qr_id: string;
  name: string;
  changes: { field: string; from?: unknown; to?: unknown }[];
}

interface Props {
  codes: CodeChanges[];
  /** Codes that stay as they are, and why. */
  kept: { qr_id: string; reasons: string[] }[];
}

/** More would make a dialog slow. */
const maxShown = 200;

/** What a change of several codes does to each of them, before it is made. */
export const ChangesList = ({ codes, kept }: Props) => (
  <Scroll label="What would change">
    <div class="stack gap-m changes-list">
      {codes.slice(0, maxShown).map(({ qr_id, name, changes }) => (
        <section key={qr_id}>
          <h3>
            <a href={pageUrl(`/codes/${qr_id}`)} target="_blank" rel="noreferrer" dir="auto">
              {name}
            </a>
          </h3>
          <ul class="stack gap-xs names">
            {changes.map(({ field, from, to }) => (
              <li key={field}>
                {labelOf(field)}: <del>{valueText(from)}</del> → {valueText(to)}
              </li>
            ))}
          </ul>
        </section>
      ))}
      {codes.length > maxShown && <p class="hint">And {plural(codes.length - maxShown, 'more code', 'more codes')}.</p>}
      {kept.length > 0 && (
        <section>
          <h3>Stays as it is</h3>
          <ul class="stack gap-xs names">
            {kept.slice(0, maxShown).map(({ qr_id, reasons }) => (
              <li key={qr_id}>
                <code>{qr_id}</code>: {reasons.join(' ')}
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  </Scroll>
);

/** A value of any field for people: lists by their length, objects by what is set in them. */
function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (Array.isArray(value))
    return value.every((item) => typeof item === 'string') ? value.join(', ') : plural(value.length, 'rule');
  if (typeof value !== 'object') return String(value);
  const set = Object.entries(value).filter(([, part]) => part !== null && part !== false);
  return set.length === 0
    ? 'none'
    : set.map(([name, part]) => `${name.replaceAll('_', ' ')} ${partText(part)}`.trim()).join(', ');
}

const partText = (part: unknown): string => {
  if (part === true) return '';
  if (typeof part === 'object') return valueText(part);
  return /^\d{4}-\d\d-\d\dT/.test(String(part)) ? time(String(part)) : String(part);
};
