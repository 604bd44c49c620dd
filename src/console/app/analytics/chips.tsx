import { Icon } from '../icons.tsx';
import { urlWith } from '../router.ts';
import { filterColumns } from './filter-columns.ts';
import { type Filters, filterLabel, tagsParameter } from './filters.ts';

/** The filters in use, each with a link that removes it. A link, so that Back brings it again. */
export function Chips({ filters, codeNames }: { filters: Filters; codeNames?: Map<string, string> | undefined }) {
  const { values, codes, tags, match } = filters;
  const columns = filterColumns.flatMap((column) => {
    const value = values[column];
    return value === undefined
      ? []
      : [{ key: column, label: filterLabel(column, value), url: urlWith({ [column]: undefined, page: undefined }) }];
  });
  const selected = codes.map((id) => ({
    key: id,
    label: `Code: ${codeNames?.get(id) ?? id}`,
    url: urlWith({ codes: codes.filter((other) => other !== id).join(','), page: undefined }),
  }));
  const tagged = tags.map((tag, i) => ({
    key: `tag ${tag}`,
    label: `${i > 0 && match === 'all' ? 'and tag' : 'Tag'}: ${tag}`,
    url: urlWith({ tags: tagsParameter(tags.filter((other) => other !== tag)), page: undefined }),
  }));
  const chips = [...selected, ...tagged, ...columns];
  const none = Object.fromEntries(
    [...filterColumns, 'codes', 'tags', 'match', 'page'].map((name) => [name, undefined]),
  );
  return (
    <div aria-live="polite">
      {chips.length > 0 && (
        <ul class="row filters" aria-label="Filters">
          {chips.map(({ key, label, url }) => (
            <li key={key} class="row nowrap gap-xs">
              <span class="clip">{label}</span>
              <a href={url} aria-label={`Remove filter ${label}`} title={`Remove filter ${label}`}>
                <Icon name="close" />
              </a>
            </li>
          ))}
          {chips.length > 1 && (
            <li class="clear">
              <a href={urlWith(none)}>Remove all filters</a>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}
