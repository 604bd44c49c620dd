import { compact, date } from '../format.ts';
import { AvailabilityBadge } from '../parts/availability.tsx';
import { Copy } from '../parts/copy.tsx';
import { ShortLink } from '../parts/short-link.tsx';
import { StatusBadge } from '../parts/states.tsx';
import { pageUrl, urlWith } from '../router.ts';
import type { ListedQrCode } from '../types.ts';
import { displayDestination } from './destination.ts';
import type { Mark } from './marks.ts';
import type { Selection } from './use-selection.ts';

interface Props {
  codes: ListedQrCode[];
  /** By id; those of a new page arrive after its codes. */
  marks: ReadonlyMap<string, Mark>;
  selection: Selection;
}

export function CodeTable({ codes, marks, selection }: Props) {
  const selectedCount = codes.filter(selection.has).length;
  return (
    <table class="codes card">
      <thead>
        <tr>
          <th scope="col" class="select">
            <label class="pick">
              <input
                type="checkbox"
                aria-label="Select all codes on this page"
                checked={selectedCount === codes.length}
                indeterminate={selectedCount > 0 && selectedCount < codes.length}
                onChange={(event) => selection.set(codes, event.currentTarget.checked)}
              />
              <span class="narrow">Select all</span>
            </label>
          </th>
          <th scope="col">Code</th>
          <th scope="col">Destination</th>
          <th scope="col">Status</th>
          <th scope="col" class="number">
            Scans, all time
          </th>
          <th scope="col">Created</th>
        </tr>
      </thead>
      <tbody>
        {codes.map((code) => (
          <CodeRow key={code.id} code={code} mark={marks.get(code.id)} selection={selection} />
        ))}
      </tbody>
    </table>
  );
}

interface RowProps {
  code: ListedQrCode;
  mark: Mark | undefined;
  selection: Selection;
}

function CodeRow({ code, mark, selection }: RowProps) {
  const { id, name, destination_url, short_url, status, total_scans, created_at } = code;
  return (
    <tr>
      <td class="select">
        <label class="pick">
          <input
            type="checkbox"
            aria-label={`Select ${name}`}
            checked={selection.has(code)}
            onChange={(event) => selection.set([code], event.currentTarget.checked)}
          />
        </label>
      </td>
      <td>
        <div class="row nowrap gap-m">
          <span class="thumb">
            <img src={`/images/${id}/public?size=128`} alt="" width="48" height="48" loading="lazy" />
          </span>
          <div class="stack gap-none">
            <a class="name clip" href={pageUrl(`/codes/${id}`)}>
              {name}
            </a>
            <span class="row nowrap gap-none link">
              <ShortLink url={short_url} />
              <Copy text={short_url} label={`Copy short link of ${name}`} />
            </span>
            <TagLinks tags={mark?.tags ?? []} />
          </div>
        </div>
      </td>
      <td class="clip muted" title={destination_url}>
        {displayDestination(destination_url)}
      </td>
      <td>
        <StatusBadge status={status} /> <AvailabilityBadge availability={mark?.availability} />
      </td>
      <td class="number">
        {compact(total_scans)}
        <span class="unit"> {total_scans === 1 ? 'scan' : 'scans'}, all time</span>
      </td>
      <td class="muted created">{date(created_at)}</td>
    </tr>
  );
}

const TagLinks = ({ tags }: { tags: string[] }) =>
  tags.length === 0 ? null : (
    <span class="row gap-xs">
      {tags.map((tag) => (
        <a key={tag} class="tag" href={urlWith({ tag, page: undefined })} aria-label={`Codes tagged ${tag}`}>
          {tag}
        </a>
      ))}
    </span>
  );
