import { useEffect, useRef, useState } from 'preact/hooks';
import { maxRules } from '../../../../events/targeting-words.ts';
import { displayDestination } from '../codes/destination.ts';
import { Icon } from '../icons.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { errorAt, errorOf } from '../parts/field-errors.ts';
import type { FieldErrors } from '../parts/use-action.ts';
import { accountTimeZone } from '../welcome.ts';
import { newRule, newVariant, type RuleForm, ruleOf } from './form.ts';
import { RuleFields } from './rule-fields.tsx';
import { conditionsText, leadText } from './sentence.ts';

interface Props {
  rules: RuleForm[];
  onRules(rules: RuleForm[]): void;
  /** Where everyone goes whom no rule applies to. */
  destination: string;
  errors: FieldErrors;
}

const moved = (rules: RuleForm[], from: number, to: number): RuleForm[] => {
  const [rule, others] = [rules[from], rules.toSpliced(from, 1)];
  return rule === undefined ? rules : others.toSpliced(to, 0, rule);
};

/** The rules in the order in which they are tried, each as a sentence that opens to its fields. */
export function RuleList({ rules, onRules, destination, errors }: Props) {
  const [openKeys, setOpenKeys] = useState<ReadonlySet<number>>(new Set());
  const [announcement, setAnnouncement] = useState('');
  const list = useRef<HTMLOListElement>(null);
  const dragged = useRef<number | undefined>(undefined);
  const focused = useRef<Element | null>(null);
  // An element that moves within the document loses the focus.
  useEffect(() => {
    if (focused.current instanceof HTMLElement) focused.current.focus();
    focused.current = null;
  }, [rules]);
  const toggle = (key: number, isOpen: boolean) =>
    setOpenKeys((before) => new Set(isOpen ? [...before, key] : [...before].filter((other) => other !== key)));
  // A rule with an error has to be open for the user to see it.
  useEffect(() => {
    for (const [i, { key }] of rules.entries()) if (errorAt(errors, `rules[${i}]`) !== undefined) toggle(key, true);
  }, [errors]);
  const add = (rule: RuleForm) => {
    onRules([...rules, rule]);
    toggle(rule.key, true);
  };
  const move = (from: number, to: number) => {
    focused.current = document.activeElement;
    onRules(moved(rules, from, to));
    setAnnouncement(`Rule ${from + 1} is now rule ${to + 1} of ${rules.length}.`);
  };
  const hiddenAfter = rules.findIndex(
    (rule) => rule.split.length > 0 && conditionsText(ruleOf(rule).when, '') === 'Everyone',
  );
  return (
    <div class="rules">
      <ol ref={list}>
        {rules.map((rule, i) => (
          <li
            key={rule.key}
            class="rule"
            onDragOver={(event) => {
              if (dragged.current !== undefined) event.preventDefault();
            }}
            onDrop={(event) => {
              event.preventDefault();
              const from = dragged.current;
              dragged.current = undefined;
              if (from !== undefined && from !== i) move(from, i);
            }}
          >
            <RuleHead
              rule={rule}
              index={i}
              count={rules.length}
              isOpen={openKeys.has(rule.key)}
              onToggle={() => toggle(rule.key, !openKeys.has(rule.key))}
              onMove={(to) => move(i, to)}
              onRemove={() => {
                onRules(rules.toSpliced(i, 1));
                setAnnouncement(`Rule ${i + 1} removed.`);
                // The button that had the focus is gone.
                list.current?.parentElement?.querySelector<HTMLElement>('.add-rule')?.focus();
              }}
              onDrag={(isDragged) => {
                dragged.current = isDragged ? i : undefined;
              }}
            />
            {openKeys.has(rule.key) && (
              <RuleFields
                rule={rule}
                onRule={(next) => onRules(rules.with(i, next))}
                path={`rules[${i}]`}
                errors={errors}
              />
            )}
            <ErrorText>{errorOf(errors, `rules[${i}]`)}</ErrorText>
            {hiddenAfter === i && i < rules.length - 1 && (
              <p class="verdict bad">
                <Icon name="warning" />
                This split takes everyone, so the rules below it never apply. Add a condition, or move it down.
              </p>
            )}
          </li>
        ))}
      </ol>
      <p class="rule everyone">
        <span class="sentence">
          {rules.length === 0 ? 'Everyone' : 'Everyone else'} <Arrow />{' '}
          <span class="url">{displayDestination(destination)}</span>
        </span>
      </p>
      <ErrorText>{errorOf(errors, 'rules')}</ErrorText>
      <div class="actions">
        <button
          type="button"
          class="button add-rule"
          disabled={rules.length >= maxRules}
          onClick={() => add(newRule(accountTimeZone()))}
        >
          <Icon name="plus" />
          Add rule
        </button>
        <button
          type="button"
          class="button"
          disabled={rules.length >= maxRules}
          onClick={() => add({ ...newRule(accountTimeZone()), split: [newVariant(destination), newVariant()] })}
        >
          <Icon name="plus" />
          Add A/B split
        </button>
        {rules.length >= maxRules && <span class="hint">A code can have {maxRules} rules.</span>}
      </div>
      <p class="hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}

const Arrow = () => (
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

function RuleHead({ rule: form, index, count, isOpen, onToggle, onMove, onRemove, onDrag }: HeadProps) {
  const rule = ruleOf(form);
  const label = `rule ${index + 1}`;
  const lead = leadText(rule);
  return (
    <div class="rule-head">
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
        <span class="url">{lead === '' ? <span class="muted">no destination yet</span> : lead}</span>
      </p>
      <div class="rule-actions">
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
