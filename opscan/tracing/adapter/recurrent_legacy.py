"""LSTM and GRU by kernels of torch_npu's legacy path: one a layer and direction, with what prepares their arguments.

Taken where a fused kernel does not fit, or CANN has none. Observed with the real torch_npu 2.13.0 on a simulated
runtime, with and without the APIs of the fused kernels (see ``library.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from opscan.tracing.adapter.leaf import leaf

if TYPE_CHECKING:
    from opscan.tracing.recorder import Recorder

aten = torch.ops.aten

Pair = tuple[torch.Tensor, torch.Tensor]


class LstmStack:
    """The layers of one call. ``batch_sizes``: those of a packed sequence, which is run padded, under a mask."""

    def __init__(
        self,
        recorder: Recorder,
        params: list[torch.Tensor],
        layers: int,
        both_ways: bool,
        batch_sizes: torch.Tensor | None = None,
    ) -> None:
        self._recorder = recorder
        self._params = params
        self._layers = layers
        self._both_ways = both_ways
        self._batch_sizes = batch_sizes
        self._each = len(params) // (layers * (2 if both_ways else 1))

    def run(self, steps: torch.Tensor, states: Pair) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The output of the last layer, the last hidden states and the last cells."""
        if not self._both_ways:
            out, last = self._one_way(steps, states, self._layers)
        elif self._layers == 1 and self._batch_sizes is not None:
            out, last = self._layer(steps, states, 0)
        else:
            out, last = self._ways(steps, states, 0)
        return out, *last

    def _one_way(self, steps: torch.Tensor, states: Pair, layers: int) -> tuple[torch.Tensor, Pair]:
        if layers == 1:
            split = self._layers > 1
            return self._direction(self._seen(steps) if split else steps, _cut(states, 0, 1) if split else states, 0)
        below = _cut(states, 0, layers - 1) if layers > 2 else states
        out, before = self._one_way(steps, below, layers - 1)
        out, last = self._direction(out, _cut(states, layers - 1, layers), layers - 1)
        return out, _joined(before, last)

    def _ways(self, steps: torch.Tensor, states: Pair, layer: int) -> tuple[torch.Tensor, Pair]:
        """This layer and those above it."""
        here, above = _cut(states, 0, 2), _cut(states, 2, states[0].shape[0])
        out, last = self._layer(self._seen(steps), here, layer)
        if layer + 1 == self._layers:
            return out, last
        out = self._flat(out)
        if layer + 2 == self._layers:
            out, top = self._layer(self._unflat(out), above, layer + 1)
        else:
            out, top = self._ways(out, above, layer + 1)
        return out, _joined(last, top)

    def _layer(self, steps: torch.Tensor, states: Pair, layer: int) -> tuple[torch.Tensor, Pair]:
        forth, last = self._direction(self._seen(steps), _cut(states, 0, 1), 2 * layer)
        back, first = self._direction(steps, _cut(states, 1, 2), 2 * layer + 1)
        return aten.cat.default([forth, back], 2), _joined(last, first)

    def _seen(self, steps: torch.Tensor) -> torch.Tensor:
        """Packed data is looked at as padded once more at each level."""
        if self._batch_sizes is None:
            return steps
        return aten.view.default(steps, list(steps.shape))  # type: ignore[no-any-return]

    def _flat(self, out: torch.Tensor) -> torch.Tensor:
        if self._batch_sizes is None:
            return out
        return aten.view.default(out, [-1, out.shape[-1]])  # type: ignore[no-any-return]

    def _unflat(self, out: torch.Tensor) -> torch.Tensor:
        if self._batch_sizes is None:
            return out
        steps = self._batch_sizes.shape[0]
        return aten.view.default(out, [steps, out.shape[0] // steps, out.shape[-1]])  # type: ignore[no-any-return]

    def _direction(self, steps: torch.Tensor, states: Pair, index: int) -> tuple[torch.Tensor, Pair]:
        """One layer in one direction: both weights as one matrix, both biases as one vector, states of every step."""
        reverse = self._both_ways and index % 2 == 1
        weights = self._params[index * self._each : (index + 1) * self._each]
        weight = aten.t.default(aten.cat.default([weights[0], weights[1]], 1))
        bias = None
        if len(weights) < 4 or (index == 0 or (self._both_ways and not reverse)):
            bias = aten.zeros.default([weight.shape[1]], dtype=weight.dtype, layout=torch.strided, device=weight.device)
        if len(weights) >= 4:
            bias = aten.add.Tensor(weights[2], weights[3])
        if self._batch_sizes is None:
            lengths = aten.empty.memory_format([0], dtype=steps.dtype, device=steps.device)
            steps = aten.flip.default(steps, [0]) if reverse else steps
            results = self._kernel("npu::npu_lstm", (steps, weight, bias, lengths, *states))
            results = [aten.flip.default(r, [0]) for r in results] if reverse else results
        else:
            arguments = (steps, self._batch_sizes, weight, bias, self._mask(steps, states), *states)
            results = self._kernel("npu::npu_lstm_data", arguments)
        at = 0 if reverse else results[0].shape[0] - 1
        hidden, cells = (aten.unsqueeze.default(aten.select.int(state, 0, at), 0) for state in results[1:])
        return results[0], (hidden, cells)

    def _mask(self, steps: torch.Tensor, states: Pair) -> torch.Tensor:
        """Which steps of each sequence there are, from the lengths."""
        batch, width = steps.shape[1], states[0].shape[-1]
        with self._recorder.paused():
            counted = torch.empty(batch, dtype=torch.int64, device="cpu")
        lengths = aten._to_copy.default(counted, device=steps.device)
        masks = [
            aten.expand.default(aten.view.default(aten.gt.Scalar(lengths, step), [1, batch, 1]), [1, batch, width])
            for step in range(steps.shape[0])
        ]
        return aten._to_copy.default(aten.cat.default(masks), dtype=torch.float16)  # type: ignore[no-any-return]

    def _kernel(self, name: str, arguments: tuple[Any, ...]) -> list[torch.Tensor]:
        hidden = (*arguments[0].shape[:-1], arguments[-1].shape[-1])

        def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
            with self._recorder.paused():
                outs = [args[0].new_empty(hidden) for _ in range(8)]
            self._recorder.emit(name, list(args), outs)
            return outs[0], outs[1], outs[2]

        return list(leaf(self._recorder, forward, (f"{name}_backward",), arguments, {}))


class GruStack:
    """The layers of one call."""

    def __init__(self, recorder: Recorder, params: list[torch.Tensor], layers: int, both_ways: bool) -> None:
        self._recorder = recorder
        self._params = params
        self._layers = layers
        self._ways = 2 if both_ways else 1
        self._each = len(params) // (layers * self._ways)

    def run(self, steps: torch.Tensor, state: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        states = aten.unbind.int(state)
        finals: list[torch.Tensor] = []
        for layer in range(self._layers):
            directions = range(layer * self._ways, (layer + 1) * self._ways)
            weights = [self._weights(i) for i in directions]
            outs, ends = zip(
                *(
                    self._direction(steps, states[i], w, reverse=bool(way))
                    for way, (i, w) in enumerate(zip(directions, weights, strict=True))
                ),
                strict=True,
            )
            if self._ways == 1:
                steps, finals = outs[0], [*finals, ends[0]]
            else:
                finals.append(aten.cat.default(list(ends)))
                steps = aten.cat.default(list(outs), -1)
        return steps, aten.cat.default(finals)

    def _weights(self, index: int) -> list[torch.Tensor]:
        given = self._params[index * self._each : (index + 1) * self._each]
        return [aten.t.default(given[0]), aten.t.default(given[1]), *given[2:4]]

    def _direction(
        self, steps: torch.Tensor, state: torch.Tensor, weights: list[torch.Tensor], reverse: bool
    ) -> tuple[torch.Tensor, torch.Tensor]:
        if len(weights) < 4:
            with self._recorder.paused():
                biases = [steps.new_empty(weights[0].shape[1]) for _ in range(2)]
            weights = [*weights, *(aten.fill_.Scalar(b, 0) for b in biases)]
        if reverse:
            steps = aten.flip.default(steps, [0])
        hidden = (*steps.shape[:-1], state.shape[-1])

        def forward(args: Any, kwargs: Any) -> tuple[torch.Tensor, ...]:
            with self._recorder.paused():
                outs = [args[0].new_empty(hidden) for _ in range(6)]
            self._recorder.emit("npu::npu_gru", list(args), outs)
            return outs[0], outs[1]

        arguments = (steps, state, *weights)
        out, states = leaf(self._recorder, forward, ("npu::npu_gru_backward",), arguments, {})
        end = aten.unsqueeze.default(aten.select.int(states, 0, states.shape[0] - 1), 0)
        return aten.flip.default(out, [0]) if reverse else out, end


def _cut(states: Pair, start: int, end: int) -> Pair:
    return aten.slice.Tensor(states[0], 0, start, end), aten.slice.Tensor(states[1], 0, start, end)


def _joined(below: Pair, above: Pair) -> Pair:
    return aten.cat.default([below[0], above[0]]), aten.cat.default([below[1], above[1]])
