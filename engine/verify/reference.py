"""The reference transformer: what the `fused` software stack runs, in torch-native modules.

Fused kernels only where PyTorch has one: RMSNorm, LayerNorm, scaled-dot-product attention,
cross entropy. Everything else is one operator after another, and each keeps what its own
backward needs.
"""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from engine.architecture import Architecture, Experts
from engine.precisions import PRECISIONS
from engine.scenario import Adapters, Recipe, Scenario
from engine.verify.adapters import adapted
from engine.verify.attention import Attention, LatentAttention
from engine.verify.float8 import in_float8
from engine.verify.host import waiting_on_host
from engine.verify.losses import OF_LOGITS, in_chunks, soft_capped
from engine.verify.norms import Dropout, norm

grouped = functional.grouped_mm
LOGIT_CAP = 30.0  # Gemma 2's, arXiv 2408.00118 section 2: it changes no size
DTYPES = {4: torch.float32, 2: torch.bfloat16}
ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "silu": functional.silu,
    "gelu": functional.gelu,
    "gelu-tanh": partial(functional.gelu, approximate="tanh"),
    "relu": functional.relu,
}


class Mlp(nn.Module):
    """Two matrices of some width around an activation, or three with a gate."""

    def __init__(self, architecture: Architecture, width: int) -> None:
        super().__init__()
        a = architecture
        self.activation = ACTIVATIONS[a.activation]
        if a.gated:
            self.gate = nn.Linear(a.hidden, width, bias=a.mlp_bias)
        self.up = nn.Linear(a.hidden, width, bias=a.mlp_bias)
        self.down = nn.Linear(width, a.hidden, bias=a.mlp_bias)
        self.gated = a.gated

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (b, s, h) to the same shape."""
        if self.gated:
            hidden = self.activation(self.gate(x)) * self.up(x)
        else:
            hidden = self.activation(self.up(x))
        out: Tensor = self.down(hidden)
        return out


class Matrices(nn.Module):
    """The matrices of all experts: gates with ups, and downs."""

    def __init__(self, hidden: int, experts: Experts) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.empty(experts.routed, 2 * experts.ffn, hidden))
        self.down = nn.Parameter(torch.empty(experts.routed, hidden, experts.ffn))


class MixtureOfExperts(nn.Module):
    """A router and gated MLPs; tokens are sorted by expert for one grouped product over all.

    The sizes do not depend on which experts the tokens go to. Shared experts, which every token
    goes to, are one MLP beside them.
    """

    def __init__(self, architecture: Architecture, experts: Experts) -> None:
        super().__init__()
        self.experts = experts
        self.activation = ACTIVATIONS[architecture.activation]
        self.router = nn.Linear(architecture.hidden, experts.routed, bias=False)
        if experts.shared_ffn:
            self.shared = Mlp(architecture, experts.shared_ffn)
        self.matrices = Matrices(architecture.hidden, experts)

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` of shape (b, s, h) to the same shape."""
        routed = self.routed(x)
        if not self.experts.shared_ffn:
            return routed
        both: Tensor = routed + self.shared(x)
        return both

    def routed(self, x: Tensor) -> Tensor:
        """Return what the experts that each token is sent to make of `x`."""
        rows = x.flatten(0, 1)
        chances = functional.softmax(self.router(rows).float(), dim=-1)
        shares, chosen = torch.topk(chances, self.experts.per_token, dim=-1)
        shares /= shares.sum(dim=-1, keepdim=True)
        by_expert, order = torch.sort(chosen.flatten())
        sent = rows[order // self.experts.per_token]
        weights = shares.flatten()[order]
        numbers = torch.arange(self.experts.routed, device=x.device)
        ends = torch.searchsorted(by_expert, numbers, right=True).to(torch.int32)
        hidden = self.gated(grouped(sent, self.matrices.up.transpose(1, 2), offs=ends))
        unscaled = grouped(hidden, self.matrices.down.transpose(1, 2), offs=ends)
        del hidden
        out = unscaled * weights.unsqueeze(-1)
        back = torch.empty_like(order)
        back[order] = torch.arange(len(order), device=x.device)
        out = out[back]
        out = out.unflatten(0, (-1, self.experts.per_token)).sum(dim=1)
        summed: Tensor = out.to(x.dtype).unflatten(0, x.shape[:2])
        return summed

    def gated(self, both: Tensor) -> Tensor:
        """Return the activated first half of `both`, times the second."""
        gate, up = both.chunk(2, dim=-1)
        return self.activation(gate) * up


class Block(nn.Module):
    """Attention and MLP or experts, norms before or behind them, the residual stream beside."""

    def __init__(
        self, architecture: Architecture, recipe: Recipe, experts: Experts | None
    ) -> None:
        super().__init__()
        self.architecture = architecture
        before, behind = architecture.norm_inputs, architecture.norm_outputs
        self.attention_norm = self._norm(present=before)
        self.mlp_norm = self._norm(present=before and not architecture.shared_norm)
        self.attention_output_norm = self._norm(present=behind)
        self.mlp_output_norm = self._norm(present=behind)
        kind = LatentAttention if architecture.latent else Attention
        self.attention = kind(architecture, recipe)
        if experts:
            self.mlp: nn.Module = MixtureOfExperts(architecture, experts)
        else:
            self.mlp = Mlp(architecture, architecture.ffn)
        self.dropout = Dropout(recipe.dropout)

    def _norm(self, *, present: bool) -> nn.Module:
        return norm(self.architecture, self.architecture.hidden) if present else nn.Identity()

    def forward(self, x: Tensor, tables: tuple[Tensor, ...]) -> Tensor:
        """Return the residual stream behind this block, of the shape of `x`."""
        behind = self.attention_output_norm
        if self.architecture.shared_norm:
            normed = self.attention_norm(x)
            attended = x + self.dropout(behind(self.attention(normed, tables)))
        else:
            attended = x + self.dropout(behind(self.attention(self.attention_norm(x), tables)))
            normed = self.mlp_norm(x if self.architecture.parallel_residual else attended)
        del x
        out: Tensor = attended + self.dropout(self.mlp_output_norm(self.mlp(normed)))
        return out


class Transformer(nn.Module):
    """Embedding, blocks, final norm, head and loss.

    Attributes:
        saves_on_host: whether what checkpoints keep waits on the host.
    """

    saves_on_host = False

    def __init__(
        self, architecture: Architecture, recipe: Recipe, adapters: Adapters | None = None
    ) -> None:
        super().__init__()
        a, adapters = architecture, adapters or Adapters()
        self.architecture, self.recipe = a, recipe
        self.embedding = nn.Embedding(a.vocab, a.hidden)
        if a.positions:
            self.positions = nn.Embedding(a.positions, a.hidden)
        dense = a.experts.dense_layers if a.experts else 0
        made = (
            adapted(Block(a, recipe, a.experts if layer >= dense else None), adapters)
            for layer in range(a.layers)
        )
        float8 = PRECISIONS[recipe.precision].float8
        self.layers = nn.ModuleList(in_float8(layer) if float8 else layer for layer in made)
        self.final_norm = norm(a, a.hidden)
        self.head = nn.Linear(a.hidden, a.vocab, bias=a.head_bias)
        if a.tied:
            self.head.weight = self.embedding.weight
        self.dropout = Dropout(recipe.dropout)
        if adapters.rank:
            for part in (self.embedding, self.final_norm, self.head):
                part.requires_grad_(requires_grad=False)
            if a.positions:
                self.positions.requires_grad_(requires_grad=False)

    def tables(self, sequence: int) -> tuple[Tensor, ...]:
        """Return what all layers share: rotary tables (s, d), and the mask where eager."""
        a = self.architecture
        tables: tuple[Tensor, ...] = ()
        if not a.positions:
            dtype = DTYPES[PRECISIONS[self.recipe.precision].compute]
            width = a.latent.rope_head_dim if a.latent else a.rotary_dim
            tables = tuple(torch.empty(sequence, width, dtype=dtype) for _ in range(2))
        if self.recipe.attention == "eager":
            tables = (*tables, torch.empty(sequence, sequence, dtype=torch.bool))
        return tables

    def batch(self, micro_batch: int, sequence: int) -> tuple[Tensor, ...]:
        """Return token ids and targets (b, s), then what all layers share."""
        ids = (torch.zeros(micro_batch, sequence, dtype=torch.long) for _ in range(2))
        return (*ids, *self.tables(sequence))

    def forward(self, tokens: Tensor, targets: Tensor, *tables: Tensor) -> Tensor:
        """Return the loss of `targets` (b, s) under `tokens` (b, s)."""
        x = self.embedding(tokens)
        if self.architecture.positions:
            x = x + self.positions(torch.arange(tokens.shape[1]))
        x = self.dropout(x)
        for block in self.layers:
            if self.recipe.recompute == "full":
                with waiting_on_host() if self.saves_on_host else nullcontext():
                    x = checkpoint(block, x, tables, use_reentrant=False)
            else:
                x = block(x, tables)
        cap = LOGIT_CAP if self.architecture.soft_cap else 0.0
        if self.recipe.loss == "chunked":
            return in_chunks(self.final_norm(x).flatten(0, 1), self.head, targets.flatten(), cap)
        logits = self.head(self.final_norm(x))
        del x
        if cap and self.recipe.loss == "eager":
            logits, cap = soft_capped(logits, cap), 0.0
        return OF_LOGITS[self.recipe.loss](logits.flatten(0, 1), targets.flatten(), cap)


def build(scenario: Scenario, weights: torch.dtype) -> Transformer:
    """Return the model of `scenario` with its weights in that dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(weights)
    try:
        model = Transformer(scenario.architecture, scenario.recipe, scenario.adapters)
        model.saves_on_host = scenario.offload.activations != "none"
        return model
    finally:
        torch.set_default_dtype(before)
