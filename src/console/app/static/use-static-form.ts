import { useState } from 'preact/hooks';
import { problemWithLength } from '../../../qr/capacity.ts';
import type { ContentType } from '../../../qr/content/schemas.ts';
import { lookOf } from '../../../qr/style.ts';
import { api } from '../api.ts';
import { type Style, withoutDefaults } from '../codes/style.ts';
import { type DownloadFields, errorsOf, initialFields, queryOf } from '../parts/download-options.ts';
import { save } from '../parts/save.ts';
import { toast } from '../parts/toast.tsx';
import { useAction } from '../parts/use-action.ts';
import { accountTimeZone } from '../welcome.ts';
import { contentOf, forms, type Values, writtenFrom } from './forms.ts';

const initialValues = (): Values => ({ security: 'WPA', timezone: accountTimeZone() });

export type StaticForm = ReturnType<typeof useStaticForm>;

/** What a static code contains and how it looks, and what downloads it. */
export function useStaticForm() {
  const [type, setType] = useState<ContentType>('wifi');
  const [values, setValues] = useState(initialValues);
  const [style, setStyle] = useState<Style>({});
  const [image, setImage] = useState<DownloadFields>(initialFields);
  const { busy, errors, setErrors, recheck, run } = useAction([
    'content',
    'style',
    ...forms[type].map(({ name }) => name),
  ]);
  const written = fitting(writtenFrom(type, values), style);
  const imageErrors = errorsOf(image);

  const download = () =>
    run(async () => {
      if ('errors' in written) {
        setErrors(written.errors);
        return;
      }
      if (Object.keys(imageErrors).length > 0) return;
      const { format, ...sizes } = queryOf(image);
      const numbers = Object.entries(sizes).map(([name, value]) => [name, name === 'color' ? value : Number(value)]);
      const body = {
        content: contentOf(type, values),
        style: withoutDefaults(style),
        format,
        ...Object.fromEntries(numbers),
      };
      save(await api.fileFrom('/static', body), `${type}.${image.format}`);
      toast('Code downloaded.');
    });

  return {
    type,
    setType(next: ContentType) {
      setType(next);
      setErrors({});
    },
    values,
    set(name: string, value: string) {
      const next = { ...values, [name]: value, ...(name === 'all_day' ? { starts_at: '', ends_at: '' } : {}) };
      setValues(next);
      const after = fitting(writtenFrom(type, next), style);
      recheck(name, 'errors' in after ? after.errors[name] : undefined);
      recheck('content', 'errors' in after ? after.errors['content'] : undefined);
    },
    style,
    setStyle,
    image,
    setImage: (change: Partial<DownloadFields>) => setImage((before) => ({ ...before, ...change })),
    imageErrors,
    content: contentOf(type, values),
    written,
    errors,
    busy,
    download,
  };
}

/** With an error if no symbol has room for the text. */
function fitting(written: ReturnType<typeof writtenFrom>, style: Style): ReturnType<typeof writtenFrom> {
  if ('errors' in written) return written;
  const problem = problemWithLength(written.text, lookOf(style).errorCorrection);
  return problem === undefined ? written : { errors: { content: `This ${problem}.` } };
}
