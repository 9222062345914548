import { testSeeds } from "./run-seeds.ts";

testSeeds(1, 50);
