import { useState } from 'preact/hooks';
import { linkOf, urlOfLink } from '../../../../events/link.ts';
import { api } from '../api.ts';
import { toast } from '../parts/toast.tsx';
import { type FieldErrors, useAction } from '../parts/use-action.ts';
import { navigate, pageUrl } from '../router.ts';
import type { CreatedQrCode, QrCode } from '../types.ts';
import { bootstrap } from '../welcome.ts';
import { parseDestination, validateFields } from './destination-field.tsx';
import { useDomains } from './domain-select.tsx';
import { suggestShortCode, useAvailability } from './short-code.ts';
import { type Style, withoutDefaults } from './style.ts';

const fields = ['name', 'destination_url', 'short_code', 'domain', 'tags', 'note', 'style'] as const;

const copySuffix = ' copy';
const nameOfCopy = (name: string) => [...name].slice(0, 255 - copySuffix.length).join('') + copySuffix;

export type CreateForm = ReturnType<typeof useCreateForm>;

/** The fields of a new code, the fields of `original` at first, and what creates it. */
export function useCreateForm(original: QrCode | undefined) {
  const [name, setName] = useState(original === undefined ? '' : nameOfCopy(original.name));
  const [destination, setDestination] = useState(original?.destination_url ?? '');
  const [customCode, setCustomCode] = useState('');
  const domains = useDomains();
  const [chosenDomain, setDomain] = useState(original?.domain);
  const domain = chosenDomain ?? domains.find(({ primary }) => primary)?.name ?? '';
  const [suggestedCode] = useState(suggestShortCode);
  const [tags, setTags] = useState<string[]>(original?.tags ?? []);
  const [note, setNote] = useState(original?.note ?? '');
  const [style, setStyle] = useState<Style>(original?.style ?? {});
  const { busy, errors, setErrors, recheck, run } = useAction(fields);
  const shortCode = customCode === '' ? suggestedCode : customCode;
  const availability = useAvailability(shortCode, domain);

  const validate = (): FieldErrors => ({
    ...validateFields(name, destination),
    ...(availability.state === 'invalid' ? { short_code: `The short link ${availability.error}.` } : {}),
  });
  const create = (status: 'active' | 'draft') =>
    run(async () => {
      const invalid = validate();
      if (Object.keys(invalid).length > 0) {
        setErrors(invalid);
        return;
      }
      const code = await api.post<CreatedQrCode>(
        original === undefined ? '/qrcodes' : `/qrcodes/${original.id}/duplicate`,
        {
          name,
          destination_url: parseDestination(destination).url,
          short_code: shortCode,
          ...(domain === '' ? (original?.domain === undefined ? {} : { domain: null }) : { domain }),
          status,
          tags,
          note,
          style: withoutDefaults(style),
        },
      );
      toast(status === 'draft' ? 'Draft saved.' : 'Code created.');
      navigate(pageUrl(`/codes/${code.id}`));
    });

  return {
    name,
    setName(value: string) {
      setName(value);
      recheck('name', validateFields(value, destination)['name']);
    },
    destination,
    setDestination(value: string) {
      setDestination(value);
      recheck('destination_url', validateFields(name, value)['destination_url']);
    },
    customCode,
    setCustomCode(value: string) {
      setCustomCode(value.trim());
      // The hint says whether the new one is valid.
      recheck('short_code', undefined);
    },
    suggestedCode,
    shortCode,
    domains,
    domain,
    setDomain,
    shortUrl: urlOfLink(linkOf(domain === '' ? undefined : domain, shortCode), bootstrap.short_base_url),
    availability,
    tags,
    setTags,
    note,
    setNote,
    style,
    setStyle,
    busy,
    errors,
    create,
  };
}
