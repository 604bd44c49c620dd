import type { Ref } from 'preact';
import { useRef } from 'preact/hooks';
import { maxRules } from '../../../../events/targeting/targeting-words.ts';
import { displayDestination } from '../codes/destination.ts';
import { Icon } from '../icons.tsx';
import { ErrorText } from '../parts/error-text.tsx';
import { errorOf } from '../parts/field-errors.ts';
import type { FieldErrors } from '../parts/use-action.ts';
import { accountTimeZone } from '../welcome.ts';
import { newRule, newVariant, type RuleForm, ruleOf } from './form.ts';
import { RuleFields } from './rule-fields.tsx';
import { Arrow, RuleHead } from './rule-head.tsx';
import { conditionsText } from './sentence.ts';
import { useRuleList } from './use-rule-list.ts';

interface Props {
  rules: RuleForm[];
  onRules(rules: RuleForm[]): void;
  /** Where everyone goes whom no rule applies to. */
  destination: string;
  errors: FieldErrors;
}

/** The rules in the order in which they are tried, each as a sentence that opens to its fields. */
export function RuleList({ rules, onRules, destination, errors }: Props) {
  const { announcement, add, move, remove, isOpen, toggle, addButton } = useRuleList(rules, onRules, errors);
  const dragged = useRef<number | undefined>(undefined);
  const hiddenAfter = rules.findIndex(
    (rule) => rule.split.length > 0 && conditionsText(ruleOf(rule).when, '') === 'Everyone',
  );
  const drop = (to: number) => {
    const from = dragged.current;
    dragged.current = undefined;
    if (from !== undefined && from !== to) move(from, to);
  };
  return (
    <div class="stack">
      <ol class="stack gap-s">
        {rules.map((rule, i) => (
          <li
            key={rule.key}
            class="stack rule"
            onDragOver={(event) => {
              if (dragged.current !== undefined) event.preventDefault();
            }}
            onDrop={(event) => {
              event.preventDefault();
              drop(i);
            }}
          >
            <RuleHead
              rule={rule}
              index={i}
              count={rules.length}
              isOpen={isOpen(rule)}
              onToggle={() => toggle(rule.key, !isOpen(rule))}
              onMove={(to) => move(i, to)}
              onRemove={() => remove(i)}
              onDrag={(isDragged) => {
                dragged.current = isDragged ? i : undefined;
              }}
            />
            {isOpen(rule) && (
              <RuleFields
                rule={rule}
                onRule={(next) => onRules(rules.with(i, next))}
                path={`rules[${i}]`}
                errors={errors}
              />
            )}
            <ErrorText>{errorOf(errors, `rules[${i}]`)}</ErrorText>
            {hiddenAfter === i && i < rules.length - 1 && <HidesOthers />}
          </li>
        ))}
      </ol>
      <Everyone isElse={rules.length > 0} destination={destination} />
      <ErrorText>{errorOf(errors, 'rules')}</ErrorText>
      <AddRule isFull={rules.length >= maxRules} destination={destination} onAdd={add} button={addButton} />
      <p class="hidden" role="status">
        {announcement}
      </p>
    </div>
  );
}

const HidesOthers = () => (
  <p class="row nowrap verdict bad">
    <Icon name="warning" />
    This split takes everyone, so the rules below it never apply. Add a condition, or move it down.
  </p>
);

const Everyone = ({ isElse, destination }: { isElse: boolean; destination: string }) => (
  <p class="stack rule everyone">
    <span class="sentence">
      {isElse ? 'Everyone else' : 'Everyone'} <Arrow /> <span class="wrapped">{displayDestination(destination)}</span>
    </span>
  </p>
);

interface AddProps {
  isFull: boolean;
  destination: string;
  onAdd(rule: RuleForm): void;
  button: Ref<HTMLButtonElement>;
}

function AddRule({ isFull, destination, onAdd, button }: AddProps) {
  const addSplit = () => onAdd({ ...newRule(accountTimeZone()), split: [newVariant(destination), newVariant()] });
  return (
    <div class="row actions">
      <button
        ref={button}
        type="button"
        class="button"
        disabled={isFull}
        onClick={() => onAdd(newRule(accountTimeZone()))}
      >
        <Icon name="plus" />
        Add rule
      </button>
      <button type="button" class="button" disabled={isFull} onClick={addSplit}>
        <Icon name="plus" />
        Add A/B split
      </button>
      {isFull && <span class="hint">A code can have {maxRules} rules.</span>}
    </div>
  );
}
