import { expect, it } from 'vitest';
import { modelChoice, modelChoices, modelSuggestions } from '#commands/sentences/settings.ts';
import { CATALOG } from '../../videos/models.ts';

/** Returns the catalog with each model at the service of that place. */
function catalogAt(...services: readonly string[]) {
  const models = CATALOG.models.map((model, at) => ({ ...model, service: services[at] ?? services[0] ?? '' }));
  return { ...CATALOG, models, defaultModel: models[0] ?? CATALOG.defaultModel };
}

it('models are named with their service where there are several', () => {
  const catalog = catalogAt('own', 'other');
  const [first, second] = modelSuggestions(catalog, '6');
  expect(first?.label).toBe('Swift 1 · own · $0.05/s · 6 s = $0.30 (default)');
  expect(second?.label).toMatch(/^Epic Pro · other · /u);
  expect(modelChoices(catalog, '6').all[0]?.label).toBe(first?.label);
  expect(modelChoice(catalog, catalog.defaultModel).label).toBe('Swift 1 · own · $0.05/s · 4, 6 or 8 s (default)');
});

it('models are named without their service where all are at one', () => {
  expect(modelSuggestions(catalogAt('own'), '6')[0]?.label).toBe('Swift 1 · $0.05/s · 6 s = $0.30 (default)');
  expect(modelSuggestions(CATALOG, '6')[0]?.label).toBe('Swift 1 · $0.05/s · 6 s = $0.30 (default)');
});
