import { Icon } from '../icons.tsx';
import { accountTimeZone } from '../welcome.ts';
import { type RuleForm, ruleOf } from './form.ts';
import { conditionsText, leadText } from './sentence.ts';

export const Arrow = () => (
  <span class="arrow" aria-hidden="true">
    →
  </span>
);

interface HeadProps {
  rule: RuleForm;
  index: number;
  count: number;
  isOpen: boolean;
  onToggle(): void;
  onMove(to: number): void;
  onRemove(): void;
  onDrag(isDragged: boolean): void;
}

/** A rule as a sentence, and what opens, moves and removes it. */
export function RuleHead({ rule: form, index, count, isOpen, onToggle, onMove, onRemove, onDrag }: HeadProps) {
  const rule = ruleOf(form);
  const label = `rule ${index + 1}`;
  const lead = leadText(rule);
  return (
    <div class="row rule-head">
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons do the same without a pointer */}
      <span
        class="grip"
        title="Drag to reorder"
        draggable
        onDragStart={(event) => {
          // Firefox drags nothing without data.
          event.dataTransfer?.setData('text/plain', label);
          onDrag(true);
        }}
        onDragEnd={() => onDrag(false)}
      >
        <Icon name="grip" />
      </span>
      <p class="sentence">
        {rule.name !== undefined && <strong>{rule.name}: </strong>}
        {conditionsText(rule.when, accountTimeZone())} <Arrow />{' '}
        <span class="wrapped">{lead === '' ? <span class="muted">no destination yet</span> : lead}</span>
      </p>
      <div class="row nowrap gap-xs rule-actions">
        <button type="button" class="button small" aria-expanded={isOpen} onClick={onToggle}>
          {isOpen ? 'Done' : 'Edit'}
          <span class="hidden"> {label}</span>
        </button>
        <button
          type="button"
          class="plain"
          aria-label={`Move ${label} up`}
          title="Move up"
          // Not disabled, which would lose the focus of a user who moves it by the keyboard.
          aria-disabled={index === 0}
          onClick={() => index > 0 && onMove(index - 1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class="plain"
          aria-label={`Move ${label} down`}
          title="Move down"
          aria-disabled={index === count - 1}
          onClick={() => index < count - 1 && onMove(index + 1)}
        >
          <Icon name="down" />
        </button>
        <button type="button" class="plain" aria-label={`Remove ${label}`} title="Remove" onClick={onRemove}>
          <Icon name="trash" />
        </button>
      </div>
    </div>
  );
}
