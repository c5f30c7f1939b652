// Form fields with a visible label. Each states its value; the page keeps it in the URL fragment.

/**
 * A list to choose one value from.
 *
 * `options`: `[{value, label}]`, or `[{group, options}]`.
 */
export function Select({ label, value, options, onChange }) {
  return (
    <label class="field">
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {options.map((option) =>
          option.options ? (
            <optgroup key={option.group} label={option.group}>
              {option.options.map(choice)}
            </optgroup>
          ) : (
            choice(option)
          ),
        )}
      </select>
    </label>
  );
}

/** Text to search for. */
export function Search({ label, value, placeholder, onInput }) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        type="search"
        value={value}
        placeholder={placeholder}
        spellcheck={false}
        onInput={(event) => onInput(event.currentTarget.value)}
      />
    </label>
  );
}

/** A box to tick. */
export function Check({ label, checked, onChange }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function choice({ value, label }) {
  return (
    <option key={value} value={value}>
      {label}
    </option>
  );
}
