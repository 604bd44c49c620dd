import { titleOf } from '../../../qr/content/content.ts';
import { LogoEditor } from '../codes/logo-editor.tsx';
import { Preview } from '../codes/preview.tsx';
import { FrameEditor } from '../codes/print-editor.tsx';
import { withField } from '../codes/style.ts';
import { StyleDetails, StylePresets } from '../codes/style-editor.tsx';
import { Icon } from '../icons.tsx';
import { DownloadOptions } from '../parts/download-fields.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { errorAt } from '../parts/field-errors.ts';
import { Form } from '../parts/form.tsx';
import { Heading } from '../parts/heading.tsx';
import { More } from '../parts/more.tsx';
import { Segments } from '../parts/segments.tsx';
import { bootstrap } from '../welcome.ts';
import { ContentFields } from './fields.tsx';
import { contentNames } from './forms.ts';
import { KindOfCode } from './kind.tsx';
import { type StaticForm, useStaticForm } from './use-static-form.ts';

/** Draws a code that contains something else than a short link, to download it. */
export function StaticPage() {
  const form = useStaticForm();
  return (
    <>
      <Heading title="Create code" />
      <KindOfCode kind="static" />
      <Form class="create" onSubmit={form.download}>
        <div class="stack">
          <ContentCard form={form} />
          <StyleCard form={form} />
          <More title="Shapes, colors and print" isUsed={false} hasError={false}>
            <StyleDetails style={form.style} onStyle={form.setStyle} />
          </More>
        </div>
        <PreviewAndDownload form={form} />
      </Form>
    </>
  );
}

const ContentCard = ({ form: { type, setType, values, set, errors } }: { form: StaticForm }) => (
  <div class="card stack">
    <Segments label="What the code contains" options={contentNames} value={type} onValue={setType} />
    <ContentFields type={type} values={values} errors={errors} set={set} />
    <ErrorText>{errorAt(errors, 'content')}</ErrorText>
  </div>
);

const StyleCard = ({ form: { style, setStyle, errors } }: { form: StaticForm }) => (
  <div class="card stack">
    <LogoEditor logo={style.logo} onLogo={(logo) => setStyle(withField(style, 'logo', logo))} />
    <FrameEditor
      frame={style.frame}
      fallbackColor={style.dotsColor ?? '#000000'}
      onFrame={(frame) => setStyle(withField(style, 'frame', frame))}
    />
    {/* Small images of a short text: images of a long one would be gray. */}
    <StylePresets style={style} onStyle={setStyle} url={bootstrap.short_base_url} />
    <ErrorText>{errorAt(errors, 'style')}</ErrorText>
  </div>
);

function PreviewAndDownload({ form }: { form: StaticForm }) {
  const { type, content, written, style, image, imageErrors, setImage, busy } = form;
  const [, name = ''] = contentNames.find(([one]) => one === type) ?? [];
  return (
    <div class="stack side">
      {'text' in written ? (
        <Preview text={written.text} caption={name} alt={titleOf(content)} style={style} subject={{ content }} />
      ) : (
        <aside class="card stack gap-m preview" aria-label="Preview">
          <p class="blank">Your code appears here.</p>
        </aside>
      )}
      <More title="File format and size" isUsed={false} hasError={Object.keys(imageErrors).length > 0}>
        <DownloadOptions fields={image} errors={imageErrors} set={setImage} />
      </More>
      <div class="row actions">
        <button type="submit" class="button primary" disabled={busy}>
          <Icon name="download" />
          {busy ? 'Drawing…' : `Download ${image.format.toUpperCase()}`}
        </button>
      </div>
    </div>
  );
}
